"use strict";
// The timeline and the next 24 hours, as SVG with a table beside it for who cannot see it.

const SERIES = ["wanted", "held", "claimed", "waiting", "misses"];
const DAY_S = 86400;

function secondsOf(text) {
  return Date.parse(text) / 1000;
}

function shortTime(second, span) {
  const text = new Date(second * 1000).toISOString();
  return span > DAY_S ? text.slice(5, 16).replace("T", " ") : text.slice(11, span < 600 ? 19 : 16);
}

function niceStep(span, most) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
  return steps.find((step) => span / step <= most) || Math.ceil(span / most / DAY_S) * DAY_S;
}

function axes(svg, box, from, to, most) {
  const step = niceStep(to - from, 8);
  for (let second = Math.ceil(from / step) * step; second <= to; second += step) {
    const x = box.left + (box.width * (second - from)) / (to - from);
    svg.append(drawn("line", { class: "axis", x1: x, x2: x, y1: box.top + box.height, y2: box.top + box.height + 4 }));
    svg.append(drawn("text", { x, y: box.top + box.height + 15, "text-anchor": "middle" }, shortTime(second, to - from)));
  }
  svg.append(drawn("polyline", { class: "axis", points: [box.left, box.top, box.left, box.top + box.height, box.left + box.width, box.top + box.height].join(" ") }));
  for (const part of most ? [0, 0.5, 1] : []) {
    const y = box.top + box.height * (1 - part);
    svg.append(drawn("text", { x: box.left - 5, y: y + 4, "text-anchor": "end" }, digits(most * part)));
  }
}

function shade(svg, box, from, to, windows) {
  const place = (second) => box.left + (box.width * (Math.min(to, Math.max(from, second)) - from)) / (to - from);
  for (const each of windows) {
    const left = place(secondsOf(each.opens));
    const right = place(secondsOf(each.ends));
    if (right <= left) continue;
    const title = drawn("title", {}, each.object + ": " + clockTime(each.start) + " to " + clockTime(each.ends));
    const piece = drawn("rect", { class: "window", x: left, y: box.top, width: right - left, height: box.height });
    piece.append(title);
    svg.append(piece);
  }
}

function drawTimeline() {
  const area = document.getElementById("timeline-area");
  const entries = Object.entries(model.data.timeline).map(([second, row]) => [Number(second), row]).sort((a, b) => a[0] - b[0]);
  if (entries.length < 2) {
    area.replaceChildren(make("p", { class: "quiet", text: "Nothing to show yet: a timeline needs two moments." }));
    return;
  }
  const from = entries[0][0];
  const to = Math.max(entries[entries.length - 1][0], from + 1);
  const box = { left: 46, top: 8, width: 840, height: 190 };
  const most = Math.max(1, ...entries.map(([, row]) => Math.max(...row)));
  const last = entries[entries.length - 1][1];
  const told = SERIES.map((name, index) => name + " " + last[index]).join(", ");
  const svg = drawn("svg", { viewBox: "0 0 900 225", role: "img", "aria-label": "Timeline from " + clockTime(new Date(from * 1000).toISOString()) + " to " + clockTime(new Date(to * 1000).toISOString()) + "; at the end " + told });
  shade(svg, box, from, to, model.data.windows);
  axes(svg, box, from, to, most);
  SERIES.forEach((name, index) => {
    let points = "";
    let before = null;
    for (const [second, row] of entries) {
      const x = (box.left + (box.width * (second - from)) / (to - from)).toFixed(1);
      const y = (box.top + box.height * (1 - row[index] / most)).toFixed(1);
      if (before !== null && before !== y) points += " " + x + "," + before;
      points += " " + x + "," + y;
      before = y;
    }
    svg.append(drawn("polyline", { class: "line " + name, points: points.trim() }));
  });
  const marks = { wanted: "dashed grey", held: "orange", claimed: "green", waiting: "dotted red", misses: "red" };
  const legend = make("p", { class: "quiet", text: SERIES.map((name) => name + ": " + marks[name]).join("; ") + ". Shaded: windows of schedules." });
  const step = Math.max(1, Math.ceil(entries.length / 50));
  const rows = entries.filter((_, index) => index % step === 0 || index === entries.length - 1).map(([second, row]) => [clockTime(new Date(second * 1000).toISOString()), ...row]);
  area.replaceChildren(svg, legend, folded("The same as a table", simpleTable(["time", ...SERIES], rows, "timeline")), promises());
}

function promises() {
  const rows = Object.values(model.data.objects).filter((row) => row.promise).map((row) => [row.kind + "/" + row.namespace + "/" + row.name, row.promise]);
  return rows.length ? simpleTable(["Headroom", "promise"], rows, "promises") : make("p", { class: "quiet", text: "No Headroom here has a promise." });
}

function drawSchedules() {
  const area = document.getElementById("schedule-area");
  const now = secondsOf(model.data.at);
  const coming = model.data.windows.filter((each) => secondsOf(each.ends) > now && secondsOf(each.opens) < now + DAY_S);
  if (!coming.length) {
    area.replaceChildren(make("p", { class: "quiet", text: "No window of a schedule opens in the next 24 hours." }));
    return;
  }
  const names = [...new Set(coming.map((each) => each.object))].slice(0, 30);
  const box = { left: 250, top: 6, width: 636, height: names.length * 22 };
  const svg = drawn("svg", { viewBox: "0 0 900 " + (box.height + 30), role: "img", "aria-label": coming.length + " windows of " + names.length + " objects in the next 24 hours; the table below has them." });
  axes(svg, box, now, now + DAY_S, 0);
  names.forEach((name, index) => {
    const y = box.top + index * 22;
    const short = plain(name);
    svg.append(drawn("text", { x: box.left - 6, y: y + 15, "text-anchor": "end" }, short.length > 38 ? "…" + short.slice(-37) : short));
    shade(svg, { ...box, top: y + 3, height: 16 }, now, now + DAY_S, coming.filter((each) => each.object === name));
  });
  const rows = coming.slice(0, 200).map((each) => [each.object, clockTime(each.opens), clockTime(each.start), clockTime(each.ends), each.replicas ?? "its usual size"]);
  area.replaceChildren(svg, folded("The same as a table", simpleTable(["object", "held from", "starts", "ends", "slots"], rows, "windows")));
}

function folded(title, inside) {
  return make("details", {}, make("summary", { text: title }), inside);
}
