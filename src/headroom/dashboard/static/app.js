"use strict";
// Wires the parts: controls, and drawing when data comes.

const DRAWN_BY = {
  nodes: drawNodes, labels: drawNodes, objects: () => { drawObjects(); drawTimeline(); }, timeline: drawTimeline,
  windows: () => { drawTimeline(); drawSchedules(); }, cost: drawCost, waiting: drawWaiting, more_waiting: drawWaiting,
};
const EVERYTHING = Object.keys(DRAWN_BY);
let pending = null;

function redraw(touched) {
  if (!model.data) return;
  const sections = touched === null ? EVERYTHING : [...touched].filter((name) => name in DRAWN_BY);
  if (touched === null || touched.has("labels")) fillChoices();
  for (const draw of new Set(sections.map((name) => DRAWN_BY[name]))) draw();
  drawSummary();
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
    if (model.frame === null) redraw(all);
    else if (model.data) { drawTimeline(); drawClock(); }
    document.documentElement.dataset.drawn = model.data ? String(model.data.revision ?? 0) : "";
  });
}

function drawHead() {
  const { data } = model;
  const source = { live: "Live cluster", simulation: "Simulation", file: "File" }[data.source.kind] || data.source.kind;
  document.title = plain((data.source.name ? data.source.name + " · " : "") + "Headroom");
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
    if (model.data) { drawNodes(); drawObjects(); drawWaiting(); }
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
  addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => { if (model.data) { drawNodes(); drawTimeline(); drawSchedules(); } }, 150); });
  document.getElementById("find").addEventListener("submit", (event) => {
    event.preventDefault();
    setState({ pod: document.getElementById("pod").value.trim() });
    lookForPods();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { applyTheme(); if (model.data) drawNodes(); });
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

async function begin() {
  readState();
  applyTheme();
  legend();
  for (const id of ["look", "sort", "filter", "pod"]) document.getElementById(id).value = state[id];
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
      if (state.pod) lookForPods();
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
