"use strict";
// Wires the parts: controls, drawing when data comes, the clock of a simulation.

const DRAWN_BY = {
  nodes: drawNodes, labels: drawNodes, objects: drawObjects, timeline: drawTimeline,
  windows: () => { drawTimeline(); drawSchedules(); }, cost: drawCost, waiting: drawWaiting, more_waiting: drawWaiting,
};
const EVERYTHING = Object.keys(DRAWN_BY);
let pending = null;

function redraw(touched) {
  if (!model.data) return;
  const sections = touched === null ? EVERYTHING : [...touched].filter((name) => name in DRAWN_BY);
  if (touched === null || touched.has("labels")) fillChoices();
  for (const draw of new Set(sections.map((name) => DRAWN_BY[name]))) draw();
  drawHead();
}

// Many messages, one picture: what changed is drawn when the browser is about to draw.
function schedule(touched) {
  if (pending !== null) {
    if (pending.touched !== null) pending.touched = touched === null ? null : new Set([...pending.touched, ...touched]);
    return;
  }
  pending = { touched };
  requestAnimationFrame(() => {
    const { touched: all } = pending;
    pending = null;
    if (!model.frame) redraw(all);
    else drawClock();
    document.documentElement.dataset.drawn = model.data ? String(model.data.revision ?? 0) : "";
  });
}

function drawHead() {
  const { data } = model;
  const source = { live: "Live cluster", simulation: "Simulation", file: "File" }[data.source.kind] || data.source.kind;
  document.getElementById("source").textContent = plain(source + " " + (data.source.name || "") + ", as of " + clockTime(data.at));
  const hidden = document.getElementById("hidden");
  hidden.hidden = !(data.hidden || []).length;
  hidden.textContent = plain("Your rights do not show you: " + (data.hidden || []).join(", ") + ".");
  drawClock();
}

function fill(id, choices, value) {
  const select = document.getElementById(id);
  const key = JSON.stringify(choices);
  if (select.dataset.choices !== key) {
    select.dataset.choices = key;
    select.replaceChildren(...choices.map(([name, text]) => make("option", { value: name, text })));
  }
  if (!choices.some(([name]) => name === value)) select.append(make("option", { value, text: value }));
  select.value = value;
}

function fillChoices() {
  const { nodes, labels } = model.data;
  fill("resource", resourcesOf(nodes).map((name) => [name, name]), state.resource);
  const keys = new Set();
  for (const row of Object.values(labels)) for (const key of Object.keys(row)) keys.add(key);
  const labelled = [...keys].sort().slice(0, 200).map((key) => ["label:" + key, "label " + key]);
  fill("group", [["", "nothing"], ["pool", "pool"], ["zone", "zone"], ...labelled], state.group);
}

function listen() {
  for (const id of ["resource", "group", "look", "sort"]) {
    document.getElementById(id).addEventListener("change", (event) => {
      setState({ [id]: event.target.value });
      if (model.data) drawNodes();
    });
  }
  document.getElementById("filter").addEventListener("input", (event) => {
    setState({ filter: event.target.value });
    if (model.data) { drawNodes(); drawObjects(); }
  });
  document.getElementById("node-area").addEventListener("click", (event) => {
    const found = event.target.closest?.("[data-node]");
    if (found) openNode(found.dataset.node);
  });
  document.getElementById("theme").addEventListener("click", () => {
    setState({ theme: document.documentElement.dataset.theme === "dark" ? "light" : "dark" });
    applyTheme();
    if (model.data) drawNodes();
  });
  const dialog = document.getElementById("details");
  document.getElementById("close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => setState({ node: "", object: "" }));
  let resizing = 0;
  addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => model.data && drawNodes(), 150); });
  listenToClock();
}

function legend() {
  const words = { used: "used: what ordinary pods ask for", claimed: "claimed: owners in room that was held", held: "held: guardians", free: "free" };
  document.getElementById("legend").replaceChildren(...Object.entries(words).map(([use, text]) => make("li", {}, make("span", { class: "key " + use, "aria-hidden": "true" }), make("span", { text }))));
}

function said(how, why) {
  const words = { live: "Live", broken: "Connection lost, trying again", refused: "Not allowed" };
  document.getElementById("state").textContent = plain(words[how] + (why && how !== "live" ? ": " + why : ""));
  document.documentElement.dataset.connection = how;
  if (how === "refused") {
    document.getElementById("login").hidden = false;
    document.getElementById("login-why").textContent = plain(why);
  }
}

function listenToClock() {
  const control = async (wish) => {
    const answer = await ask("control", { method: "POST", headers: { "X-Headroom-Control": "1" }, body: JSON.stringify(wish) });
    model.data = { ...model.data, control: await answer.json() };
    drawClock();
  };
  document.getElementById("play").addEventListener("click", () => control({ paused: !model.data.control.paused }));
  document.getElementById("speed").addEventListener("change", (event) => control({ speed: Number(event.target.value) }));
  document.getElementById("now").addEventListener("click", () => showFrame(""));
  document.getElementById("slider").addEventListener("input", (event) => showFrame(event.target.value));
}

async function showFrame(at) {
  setState({ at });
  if (at === "") {
    if (model.newest) model.data = model.newest;
    model.frame = null;
    redraw(null);
    return;
  }
  const wanted = at;
  const found = model.embedded ? frameIn(Number(at)) : await (await ask("frame?at=" + encodeURIComponent(at))).json();
  if (state.at !== wanted) return;
  model.newest = model.frame ? model.newest : model.data;
  model.frame = at;
  document.getElementById("slider").max = String(Math.floor(model.data.control?.elapsed ?? 0));
  document.getElementById("slider").value = at;
  const live = model.data;
  model.data = { ...live, ...found, control: live.control };
  redraw(null);
  model.data = live;
}

function frameIn(at) {
  const frames = model.embedded.frames || [];
  return frames.filter((frame) => frame.elapsed <= at).pop() || frames[0];
}

function drawClock() {
  const { control } = model.data;
  document.getElementById("clock").hidden = !control;
  if (!control) return;
  const live = !model.embedded;
  for (const id of ["play", "speed"]) document.getElementById(id).hidden = !live;
  document.querySelector('label[for="speed"]').hidden = !live;
  document.getElementById("play").textContent = control.paused ? "Play" : "Pause";
  fill("speed", (control.speeds || []).map((speed) => [String(speed), speed === 0 ? "as fast as it goes" : speed + " ×"]), String(control.speed));
  const slider = document.getElementById("slider");
  slider.max = String(Math.floor(control.elapsed));
  if (!model.frame) slider.value = slider.max;
  const at = Number(slider.value);
  slider.setAttribute("aria-valuetext", stopwatch(at));
  document.getElementById("moment").textContent = stopwatch(at) + " of " + stopwatch(control.end) + (control.done ? ", finished" : "");
}

async function begin() {
  readState();
  applyTheme();
  legend();
  for (const id of ["look", "sort", "filter"]) document.getElementById(id).value = state[id];
  listen();
  const inside = document.getElementById("data");
  let opened = false;
  const tell = (touched) => {
    schedule(touched);
    if (opened || !model.data) return;
    opened = true;
    requestAnimationFrame(() => {
      if (state.at) showFrame(state.at);
      if (state.node) openNode(state.node);
      else if (state.object) openObject(state.object);
    });
  };
  if (inside) {
    const whole = JSON.parse(inside.textContent);
    model.embedded = whole;
    model.data = whole.snapshot;
    tell(null);
    return;
  }
  document.getElementById("login").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = document.getElementById("token");
    model.token = field.value.trim();
    field.value = "";
    document.getElementById("login").hidden = true;
    follow(tell, said);
  });
  await follow(tell, said);
}

begin();
