"use strict";
// The windows of schedules in the next 24 hours.

const ROW = 26;

function drawSchedules() {
  const area = document.getElementById("schedule-area");
  const now = secondsOf(model.data.at);
  const coming = model.data.windows.filter((each) => secondsOf(each.ends) > now && secondsOf(each.opens) < now + DAY_S);
  if (!coming.length) {
    const none = model.data.windows.length ? "No window of a schedule opens in the next 24 hours." : "No Headroom here has a schedule.";
    area.replaceChildren(make("p", { class: "quiet", text: none }));
    return;
  }
  const names = [...new Set(coming.map((each) => each.object))];
  const shown = names.slice(0, 30);
  const width = canvasOf(area);
  const beside = width > 700;
  const row = beside ? ROW : ROW + 16;
  const left = beside ? 260 : 8;
  const box = { left, top: 4, width: width - left - 24, height: shown.length * row };
  const svg = drawn("svg", { class: "chart", width, height: box.height + 28, viewBox: "0 0 " + width + " " + (box.height + 28), role: "img", "aria-label": coming.length + " windows of " + names.length + " objects in the next 24 hours; the table below has them." });
  timeAxis(svg, box, now, now + DAY_S);
  const x = (second) => box.left + (box.width * (Math.min(now + DAY_S, Math.max(now, second)) - now)) / DAY_S;
  shown.forEach((name, index) => {
    const y = box.top + index * row;
    const short = plain(name);
    const most = beside ? 38 : Math.floor(box.width / 7);
    svg.append(drawn("text", beside ? { x: left - 8, y: y + 17, "text-anchor": "end" } : { x: left, y: y + 12 }, short.length > most ? "…" + short.slice(1 - most) : short));
    for (const each of coming.filter((window) => window.object === name)) svg.append(windowPiece(each, x, y + (beside ? 4 : 18)));
  });
  svg.append(drawn("line", { class: "axis", x1: box.left, x2: box.left, y1: box.top, y2: box.top + box.height }));
  const rows = coming.slice(0, 200).map((each) => [each.object, clockTime(each.opens), clockTime(each.start), clockTime(each.ends), each.replicas ?? "its usual size"]);
  const rest = names.length - shown.length;
  area.replaceChildren(svg, ...(rest > 0 ? [make("p", { class: "more", text: "and " + rest + " more objects, in the table" })] : []),
    make("p", { class: "quiet", text: "Filled: the window. Dashed: slots are prepared before it." }),
    folded("The same as a table", simpleTable(["object", "held from", "starts", "ends", "slots"], rows, "windows")));
}

function windowPiece(each, x, y) {
  const [opens, start, ends] = [each.opens, each.start, each.ends].map((text) => x(secondsOf(text)));
  const group = drawn("g", { class: "window" });
  group.append(drawn("title", {}, each.object + ": " + clockTime(each.start) + " to " + clockTime(each.ends) + ", held from " + clockTime(each.opens)));
  if (start - opens > 1) group.append(drawn("rect", { class: "lead", x: opens, y, width: start - opens, height: 17 }));
  group.append(drawn("rect", { class: "open", x: start, y, width: Math.max(1, ends - start), height: 17 }));
  const words = each.replicas === null || each.replicas === undefined ? "" : each.replicas + (each.replicas === 1 ? " slot" : " slots");
  if (words && ends - start > 60) group.append(drawn("text", { x: (start + ends) / 2, y: y + 13, "text-anchor": "middle" }, words));
  return group;
}
