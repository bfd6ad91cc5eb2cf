"use strict";
// The clock of a simulation: pause, speed, and looking back.

function listenToClock() {
  const control = async (wish) => {
    const answer = await ask("control", { method: "POST", headers: { "X-Headroom-Control": "1" }, body: JSON.stringify(wish) });
    const told = await answer.json();
    model.data = { ...model.data, control: told };
    if (model.newest) model.newest = { ...model.newest, control: told };
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
    model.frame = model.newest = null;
    redraw(null);
    return;
  }
  const wanted = at;
  let found;
  try {
    found = model.embedded ? frameIn(Number(at)) : await (await ask("frame?at=" + encodeURIComponent(at))).json();
  } catch {
    setState({ at: "" }); // Such as a live cluster, or a run that has no such moment.
    return;
  }
  if (state.at !== wanted) return;
  const now = newest();
  model.newest = now;
  model.frame = at;
  model.data = { ...now, ...found, control: now.control };
  document.getElementById("slider").max = String(Math.floor(now.control?.elapsed ?? 0));
  document.getElementById("slider").value = at;
  redraw(null);
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
  if (model.frame === null) slider.value = slider.max;
  const at = Number(slider.value);
  slider.setAttribute("aria-valuetext", stopwatch(at));
  document.getElementById("moment").textContent = stopwatch(at) + " of " + stopwatch(control.end) + (control.done ? ", finished" : "");
}

