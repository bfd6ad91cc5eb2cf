"use strict";
// The timeline as SVG, with a table beside it for who cannot see it.

const SERIES = ["wanted", "held", "claimed", "waiting"];
const COLUMNS = ["wanted", "held", "claimed", "waiting", "misses", "owners", "late"];
const [MISSES, OWNERS, LATE] = [4, 5, 6];
const DAY_S = 86400;
const STRIP = 26;

function secondsOf(text) {
  return Date.parse(text) / 1000;
}

function isoOf(second) {
  return new Date(second * 1000).toISOString();
}

function shortTime(second, span) {
  const text = isoOf(second);
  return span > DAY_S ? text.slice(5, 16).replace("T", " ") : text.slice(11, span < 600 ? 19 : 16);
}

function niceStep(span, most) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
  return steps.find((step) => span / step <= most) || Math.ceil(span / most / DAY_S) * DAY_S;
}

// Whole numbers from zero to at least the most: slots and pods come in ones.
function niceTicks(most, count) {
  const rough = Math.max(1, most / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].find((each) => each * power >= rough) * power);
  const ticks = [];
  for (let value = 0; value < most + step; value += step) ticks.push(value);
  return ticks;
}

function canvasOf(area) {
  return Math.max(280, Math.floor(area.clientWidth || 900));
}

function timeAxis(svg, box, from, to) {
  const step = niceStep(to - from, Math.max(2, Math.floor(box.width / 90)));
  for (let second = Math.ceil(from / step) * step; second <= to; second += step) {
    const x = box.left + (box.width * (second - from)) / (to - from);
    svg.append(drawn("line", { class: "rule", x1: x, x2: x, y1: box.top, y2: box.top + box.height }));
    svg.append(drawn("text", { class: "label", x, y: box.top + box.height + 15, "text-anchor": "middle" }, shortTime(second, to - from)));
  }
}

function shade(svg, box, from, to, windows) {
  const place = (second) => box.left + (box.width * (Math.min(to, Math.max(from, second)) - from)) / (to - from);
  for (const each of windows) {
    const left = place(secondsOf(each.opens));
    const right = place(secondsOf(each.ends));
    if (right <= left) continue;
    const piece = drawn("rect", { class: "window", x: left, y: box.top, width: right - left, height: box.height });
    piece.append(drawn("title", {}, each.object + ": " + clockTime(each.start) + " to " + clockTime(each.ends)));
    svg.append(piece);
  }
}

// A value stays until the next moment: points of a line with steps.
function steps(entries, at, x, y) {
  let points = "";
  let before = null;
  for (const [second, row] of entries) {
    const value = at(row);
    if (value === null) continue;
    const [left, top] = [x(second).toFixed(1), y(value).toFixed(1)];
    if (before !== null && before !== top) points += " " + left + "," + before;
    points += " " + left + "," + top;
    before = top;
  }
  return points.trim();
}

function drawLines(svg, box, entries, x) {
  const most = Math.max(1, ...entries.map(([, row]) => Math.max(row[0], row[1], row[2], row[3])));
  const ticks = niceTicks(most, 4);
  const top = ticks[ticks.length - 1];
  const y = (value) => box.top + box.height * (1 - value / top);
  for (const value of ticks) {
    svg.append(drawn("line", { class: "rule", x1: box.left, x2: box.left + box.width, y1: y(value), y2: y(value) }));
    svg.append(drawn("text", { class: "label", x: box.left - 6, y: y(value) + 4, "text-anchor": "end" }, digits(value)));
  }
  const held = steps(entries, (row) => row[1], x, y);
  const right = x(entries[entries.length - 1][0]).toFixed(1);
  svg.append(drawn("polygon", { class: "area", points: x(entries[0][0]).toFixed(1) + "," + y(0) + " " + held + " " + right + "," + y(0) }));
  // What is wanted is drawn over what is held: where they are equal, both are seen.
  for (const index of [1, 0, 2, 3]) svg.append(drawn("polyline", { class: "line " + SERIES[index], points: steps(entries, (row) => row[index], x, y) }));
}

// New misses by moment: one bar for each, as high as there were many.
function drawMisses(svg, box, entries, x) {
  const fresh = entries.map(([second, row], index) => [second, Math.max(0, row[MISSES] - (index ? entries[index - 1][1][MISSES] : 0))]);
  const most = Math.max(1, ...fresh.map(([, count]) => count));
  svg.append(drawn("text", { class: "label", x: box.left - 6, y: box.top + STRIP - 8, "text-anchor": "end" }, "misses"));
  svg.append(drawn("line", { class: "axis", x1: box.left, x2: box.left + box.width, y1: box.top + STRIP, y2: box.top + STRIP }));
  for (const [second, count] of fresh) {
    if (!count) continue;
    const height = Math.max(3, (STRIP * count) / most);
    const bar = drawn("rect", { class: "missed", x: (x(second) - 1.5).toFixed(1), y: box.top + STRIP - height, width: 3, height });
    bar.append(drawn("title", {}, count + " owners found no slot, " + clockTime(isoOf(second))));
    svg.append(bar);
  }
  if (!entries.some(([, row]) => row[MISSES])) svg.append(drawn("text", { class: "label", x: box.left + 6, y: box.top + STRIP - 8 }, "none"));
}

// The part of the owners of the hour before that started in time, and what is promised.
function drawAchieved(svg, box, entries, x, promised) {
  const at = (row) => (row[OWNERS] ? 1 - row[LATE] / row[OWNERS] : null);
  const lowest = Math.min(...promised, ...entries.map(([, row]) => at(row) ?? 1));
  const floor = lowest >= 0.9 ? 0.9 : lowest >= 0.5 ? 0.5 : 0;
  const height = STRIP * 2;
  const y = (value) => box.top + height * (1 - (value - floor) / (1 - floor));
  for (const value of [floor, 1]) {
    svg.append(drawn("line", { class: "rule", x1: box.left, x2: box.left + box.width, y1: y(value), y2: y(value) }));
    svg.append(drawn("text", { class: "label", x: box.left - 6, y: y(value) + 4, "text-anchor": "end" }, Math.round(value * 100) + " %"));
  }
  for (const ratio of promised) svg.append(drawn("line", { class: "line promised", x1: box.left, x2: box.left + box.width, y1: y(ratio), y2: y(ratio) }));
  svg.append(drawn("polyline", { class: "line achieved", points: steps(entries, at, x, y) }));
}

function legendOf(names) {
  return make("ul", { class: "keys", "aria-label": "Lines" }, ...names.map(([name, text]) => {
    const swatch = drawn("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" });
    if (name === "missed") swatch.append(drawn("rect", { class: name, x: 11, y: 0, width: 4, height: 10 }));
    else if (name === "window") swatch.append(drawn("rect", { class: name, width: 26, height: 10, fill: "var(--shade)", stroke: "var(--line)" }));
    else swatch.append(drawn("line", { class: "line " + name, x1: 0, x2: 26, y1: 5, y2: 5 }));
    return make("li", {}, swatch, make("span", { text }));
  }));
}

function drawTimeline() {
  const area = document.getElementById("timeline-area");
  const entries = Object.entries(model.data.timeline).map(([second, row]) => [Number(second), row]).sort((a, b) => a[0] - b[0]);
  if (entries.length < 2) {
    const why = (model.data.hidden || []).includes("the timeline") ? "Your rights do not show you the timeline." : model.data.source.kind === "live" ? "The timeline begins when the operator starts; its next moment comes within 15 seconds." : "Nothing to show: a timeline needs two moments, and this has one.";
    area.replaceChildren(make("p", { class: "quiet", text: why }), ...promises());
    return;
  }
  const [from, to] = [entries[0][0], Math.max(entries[entries.length - 1][0], entries[0][0] + 1)];
  const width = canvasOf(area);
  const tall = width < 600 ? 150 : 200;
  const box = { left: 48, top: 8, width: width - 64, height: tall };
  const promised = [...new Set(Object.values(model.data.objects).filter((row) => row.achieved).map((row) => row.achieved.ratio))].sort();
  const achieved = entries.some(([, row]) => row[OWNERS]);
  const below = box.top + tall + 34;
  const height = below + STRIP + (achieved ? STRIP * 2 + 22 : 0) + 6;
  const last = entries[entries.length - 1][1];
  const told = COLUMNS.slice(0, 5).map((name, index) => name + " " + last[index]).join(", ");
  const svg = drawn("svg", { class: "chart", width, height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "Timeline from " + clockTime(isoOf(from)) + " to " + clockTime(isoOf(to)) + "; at the end " + told });
  const x = (second) => box.left + (box.width * (second - from)) / (to - from);
  shade(svg, box, from, to, model.data.windows);
  timeAxis(svg, box, from, to);
  drawLines(svg, box, entries, x);
  drawMisses(svg, { ...box, top: below }, entries, x);
  if (achieved) drawAchieved(svg, { ...box, top: below + STRIP + 16 }, entries, x, promised);
  if (model.frame !== null) {
    const back = model.data.control.elapsed - Number(model.frame);
    const now = Math.min(to, Math.max(from, secondsOf(model.newest.at) - back));
    svg.append(drawn("line", { class: "moment", x1: x(now), x2: x(now), y1: box.top, y2: height - 6 }));
  }
  const readout = make("p", { class: "readout quiet", "aria-hidden": "true" });
  pointing(svg, entries, { box, from, to, height }, readout);
  const names = [["wanted", "wanted"], ["held", "held"], ["claimed", "claimed: owners in held room now"], ["waiting", "waiting pods"], ["missed", "misses: owners that found no slot"]];
  if (achieved) names.push(["achieved", "owners of the hour before that started in time"], ["promised", "promised"]);
  if (model.data.windows.length) names.push(["window", "window of a schedule"]);
  const every = Math.max(1, Math.ceil(entries.length / 50));
  const rows = entries.filter((_, index) => index % every === 0 || index === entries.length - 1).map(([second, row]) => [clockTime(isoOf(second)), ...COLUMNS.map((_, index) => row[index] ?? 0)]);
  const table = simpleTable(["time", "wanted", "held", "claimed", "waiting", "misses so far", "owners, last hour", "of them late"], rows, "timeline");
  const open = area.querySelector("details")?.open;
  const fold = folded("The same as a table", table);
  if (open) fold.open = true;
  area.replaceChildren(svg, readout, legendOf(names), fold, ...promises());
}

// What the lines say where somebody points.
function pointing(svg, entries, { box, from, to, height }, readout) {
  const pointer = drawn("line", { class: "pointer", y1: box.top, y2: height - 6, visibility: "hidden" });
  svg.append(pointer);
  svg.addEventListener("pointermove", (event) => {
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width || 1;
    const x = Math.min(box.left + box.width, Math.max(box.left, (event.clientX - svg.getBoundingClientRect().left) / scale));
    const second = from + ((x - box.left) * (to - from)) / box.width;
    const found = entries.filter(([each]) => each <= second).pop() || entries[0];
    for (const name of ["x1", "x2"]) pointer.setAttribute(name, x);
    pointer.setAttribute("visibility", "visible");
    readout.textContent = plain(clockTime(isoOf(Math.floor(second))) + ": " + COLUMNS.slice(0, 5).map((name, index) => name + " " + found[1][index]).join(", "));
  });
  svg.addEventListener("pointerleave", () => { pointer.setAttribute("visibility", "hidden"); readout.textContent = ""; });
}

function promises() {
  const rows = Object.entries(model.data.objects).filter(([, row]) => row.promise || row.achieved).map(([name, row]) => {
    const { achieved } = row;
    if (!achieved) return [name, row.promise, "", "", "", ""];
    const part = ([owners, late]) => (owners ? percent(1 - late / owners) + " of " + owners : "nobody came");
    const judged = { True: ["good-word", "kept"], False: ["bad-word", "not kept"] }[achieved.kept] || ["quiet", "not known yet"];
    const says = row.promise || "none; measured by " + digits(100 * achieved.ratio) + " % within " + digits(achieved.within) + " s";
    return [name, says, part(achieved.hour), part(achieved.day), part(achieved.week), make("span", { class: judged[0], text: judged[1] })];
  });
  if (!rows.length) return [];
  return [make("h3", { text: "Promises: owners that start in time" }), simpleTable(["object", "promise", "last hour", "last day", "last week", "verdict"], rows.slice(0, MOST_ROWS), "promises")];
}

function folded(title, inside) {
  return make("details", {}, make("summary", { text: title }), inside);
}
