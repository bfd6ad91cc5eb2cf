"use strict";
// Nodes as bars or as a grid: elements up to some hundreds, one canvas above that.

const USES = ["used", "claimed", "held"];
const MOST_ELEMENTS = 300;
const CELL = { bars: { width: 300, height: 16, name: 150, gap: 14 }, grid: { width: 26, height: 18, name: 0, gap: 3 } };
const canvasState = { cells: [], titles: [], columns: 1, size: CELL.bars, width: 0, chosen: -1 };

function resourcesOf(nodes) {
  const found = new Set(["cpu", "memory"]);
  for (const row of Object.values(nodes)) for (const name of Object.keys(row.whole)) found.add(name);
  const rank = (name) => (name === "cpu" ? 0 : name === "memory" ? 1 : 2);
  return [...found].filter((name) => name !== "ephemeral-storage").sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

function partsOf(row, resource) {
  const whole = own(row.whole, resource) || 0;
  const found = { whole };
  for (const use of USES) found[use] = resource === "pods" ? (use === "used" ? row.pods : 0) : own(row[use], resource) || 0;
  found.free = whole - found.used - found.claimed - found.held;
  return found;
}

function groupOf(name, row) {
  if (state.group === "pool") return row.pool || "no pool";
  if (state.group === "zone") return row.zone || "no zone";
  if (state.group.startsWith("label:")) return own(own(model.data.labels, name), state.group.slice(6)) || "without this label";
  return "";
}

// By code, not by language: thousands of names are compared once a second.
function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

function chosenNodes() {
  const wanted = state.filter.toLowerCase();
  const rank = {
    free: (parts) => (parts.whole ? parts.free / parts.whole : 1),
    held: (parts) => -parts.held,
    name: () => 0,
  }[state.sort] || (() => 0);
  const found = Object.entries(model.data.nodes).map(([name, row]) => ({
    name, row, parts: partsOf(row, state.resource), group: groupOf(name, row), rank: 0,
  })).filter((entry) => !wanted || (entry.name + " " + entry.row.pool + " " + entry.row.zone + " " + entry.row.state).toLowerCase().includes(wanted));
  for (const entry of found) entry.rank = rank(entry.parts);
  return found.sort((a, b) => compare(a.group, b.group) || a.rank - b.rank || compare(a.name, b.name));
}

function nodeWords(entry) {
  const { parts } = entry;
  const say = (use) => use + " " + amount(state.resource, parts[use]);
  const state_ = entry.row.state ? ", " + entry.row.state : "";
  return entry.name + ": " + state.resource + " " + [...USES, "free"].map(say).join(", ") + " of " + amount(state.resource, parts.whole) + state_;
}

function nodeElement(entry) {
  const { parts } = entry;
  const bar = make("span", { class: "bar", "aria-hidden": "true" });
  const whole = Math.max(parts.whole, parts.used + parts.claimed + parts.held, 1);
  for (const use of USES) {
    const piece = make("span", { class: use });
    piece.style[state.look === "grid" ? "height" : "width"] = (100 * Math.max(0, parts[use])) / whole + "%";
    bar.append(piece);
  }
  const note = share(parts.used + parts.claimed, parts.whole) + " % used" + (parts.held ? ", " + share(parts.held, parts.whole) + " % held" : "");
  const words = plain(nodeWords(entry));
  return make("button", { type: "button", class: "node", "data-node": entry.name, title: words },
    make("span", { class: "name", text: entry.name }), bar,
    make("span", { class: entry.row.state ? "note state" : "note", text: entry.row.state || note }));
}

function drawNodes() {
  const area = document.getElementById("node-area");
  const entries = chosenNodes();
  const focused = document.activeElement?.dataset?.node;
  if (!entries.length) area.replaceChildren(make("p", { class: "quiet", text: noNodes() }));
  else if (entries.length > MOST_ELEMENTS) drawCanvas(area, entries);
  else {
    const parts = [];
    let group = null;
    let box = null;
    for (const entry of entries) {
      if (entry.group !== group) {
        group = entry.group;
        if (group) parts.push(make("h3", { text: group }));
        box = make("div", { class: state.look === "grid" ? "grid" : "bars" });
        parts.push(box);
      }
      box.append(nodeElement(entry));
    }
    area.replaceChildren(...parts);
    if (focused) area.querySelector('[data-node="' + CSS.escape(focused) + '"]')?.focus();
  }
  drawTotals(entries);
}

function noNodes() {
  if ((model.data.hidden || []).includes("nodes")) return "Your rights do not show you nodes.";
  return Object.keys(model.data.nodes).length ? "No node has that in its name, pool, zone or state." : "There is no node here yet.";
}

function drawTotals(entries) {
  const sums = { whole: 0, used: 0, claimed: 0, held: 0, free: 0 };
  for (const entry of entries) for (const name of Object.keys(sums)) sums[name] += entry.parts[name];
  const told = [...USES, "free"].map((use) => use + " " + amount(state.resource, sums[use]) + " (" + share(sums[use], sums.whole) + " %)").join(", ");
  const all = Object.keys(model.data.nodes).length;
  const count = entries.length === all ? all + (all === 1 ? " node" : " nodes") : entries.length + " of " + all + " nodes";
  document.getElementById("totals").textContent = plain(count + ", " + state.resource + " " + amount(state.resource, sums.whole) + ": " + told);
}

function colors() {
  const style = getComputedStyle(document.documentElement);
  const found = {};
  for (const name of [...USES, "free", "text", "miss", "focus", "card", "hatch"]) found[name] = style.getPropertyValue("--" + name).trim();
  return found;
}

// One canvas as high as its box; cells are painted where the box is scrolled to. A canvas of all
// rows would be higher than browsers allow, and the rest of the page would be far below.
function drawCanvas(area, entries) {
  const box = area.querySelector(".many") || newBox(area);
  const least = CELL[state.look] || CELL.bars;
  const width = Math.max(260, box.clientWidth || 900);
  const columns = Math.max(1, Math.floor(width / (least.width + least.gap)));
  const size = least.name ? { ...least, width: Math.floor(width / columns) - least.gap } : least;
  const cells = [];
  const titles = [];
  let y = 4;
  let x = 0;
  let group = null;
  for (const entry of entries) {
    if (entry.group !== group) {
      group = entry.group;
      if (x) { y += size.height + 3; x = 0; }
      if (group) { titles.push([group, y + 14]); y += 22; }
    }
    cells.push({ entry, x: 2 + x * (size.width + size.gap), y });
    x += 1;
    if (x === columns) { x = 0; y += size.height + 3; }
  }
  Object.assign(canvasState, { cells, titles, columns, size, width });
  if (canvasState.chosen >= cells.length) canvasState.chosen = cells.length - 1;
  box.querySelector(".tall").style.height = Math.max(y + (x ? size.height : 0) + 6, box.clientHeight) + "px";
  box.querySelector("canvas").setAttribute("aria-label", entries.length + " nodes. Arrow keys move from node to node, Enter opens one; the filter above finds one by name.");
  paint(box);
}

function newBox(area) {
  const canvas = make("canvas", { tabindex: "0", role: "img" });
  const box = make("div", { class: "many" }, make("div", { class: "tall" }, canvas));
  canvas.addEventListener("click", (event) => openCell(cellAt(canvas, event)));
  canvas.addEventListener("mousemove", (event) => {
    const cell = canvasState.cells[cellAt(canvas, event)];
    canvas.title = cell ? plain(nodeWords(cell.entry)) : "";
  });
  canvas.addEventListener("keydown", (event) => moveInCanvas(box, event));
  box.addEventListener("scroll", () => requestAnimationFrame(() => paint(box)));
  area.replaceChildren(box);
  return box;
}

// Held room is hatched here as in the bars.
function hatch(pen, color) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const brush = tile.getContext("2d");
  brush.fillStyle = color.held;
  brush.fillRect(0, 0, 6, 6);
  brush.strokeStyle = color.hatch;
  brush.lineWidth = 1.5;
  for (const shift of [-6, 0, 6]) { brush.beginPath(); brush.moveTo(shift, 6); brush.lineTo(shift + 6, 0); brush.stroke(); }
  return pen.createPattern(tile, "repeat");
}

function paint(box) {
  const canvas = box.querySelector("canvas");
  const { cells, titles, size, width } = canvasState;
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const height = box.clientHeight;
  const top = box.scrollTop;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.height = height + "px";
  const pen = canvas.getContext("2d");
  const color = colors();
  pen.setTransform(ratio, 0, 0, ratio, 0, -top * ratio);
  pen.font = "bold 13px system-ui, sans-serif";
  pen.fillStyle = color.text;
  for (const [title, y] of titles) if (y >= top && y <= top + height + 20) pen.fillText(plain(title), 2, y);
  pen.font = "11px system-ui, sans-serif";
  const hatched = hatch(pen, color);
  for (let index = firstSeen(top - size.height); index < cells.length && cells[index].y <= top + height; index += 1) {
    paintCell(pen, cells[index], { color, hatched, chosen: index === canvasState.chosen });
  }
}

// Cells are in the order of their rows: the first one that is seen, by halves.
function firstSeen(top) {
  let [low, high] = [0, canvasState.cells.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (canvasState.cells[middle].y < top) low = middle + 1;
    else high = middle;
  }
  return low;
}

function paintCell(pen, cell, { color, hatched, chosen }) {
  const { size } = canvasState;
  const { parts, name, row } = cell.entry;
  const whole = Math.max(parts.whole, parts.used + parts.claimed + parts.held, 1);
  const bar = size.width - size.name;
  let x = cell.x + size.name;
  if (size.name) {
    pen.fillStyle = row.state ? color.miss : color.text;
    pen.fillText(shortened(pen, plain(name), size.name - 6), cell.x, cell.y + 12);
  }
  pen.fillStyle = color.free;
  pen.fillRect(x, cell.y, bar, size.height);
  const edge = [x, cell.y, bar, size.height];
  for (const use of USES) {
    const part = (bar * Math.max(0, parts[use])) / whole;
    pen.fillStyle = use === "held" ? hatched : color[use];
    pen.fillRect(x, cell.y, part, size.height);
    x += part;
  }
  if (row.state) { pen.strokeStyle = color.miss; pen.lineWidth = 1.5; pen.strokeRect(...edge); }
  if (chosen) { pen.strokeStyle = color.focus; pen.lineWidth = 3; pen.strokeRect(cell.x - 1, cell.y - 1, size.width + 2, size.height + 2); }
}

// The end of a name tells nodes apart.
function shortened(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let cut = Math.max(1, Math.floor((text.length * width) / pen.measureText(text).width) - 1);
  while (cut > 1 && pen.measureText("…" + text.slice(-cut)).width > width) cut -= 1;
  return "…" + text.slice(-cut);
}

function cellAt(canvas, event) {
  const frame = canvas.getBoundingClientRect();
  const { cells, size } = canvasState;
  const x = event.clientX - frame.left;
  const y = event.clientY - frame.top + canvas.closest(".many").scrollTop;
  return cells.findIndex((cell) => x >= cell.x && x <= cell.x + size.width && y >= cell.y && y <= cell.y + size.height);
}

function openCell(index) {
  const cell = canvasState.cells[index];
  if (cell) openNode(cell.entry.name);
}

function moveInCanvas(box, event) {
  const last = canvasState.cells.length - 1;
  const { columns, size } = canvasState;
  const page = columns * Math.max(1, Math.floor(box.clientHeight / (size.height + 3)) - 1);
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, PageDown: page, PageUp: -page, Home: -last - 1, End: last + 1 };
  if (event.key === "Enter" || event.key === " ") { openCell(canvasState.chosen); event.preventDefault(); return; }
  if (!(event.key in steps)) return;
  event.preventDefault();
  canvasState.chosen = Math.min(last, Math.max(0, canvasState.chosen + steps[event.key]));
  const cell = canvasState.cells[canvasState.chosen];
  if (!cell) return;
  if (cell.y < box.scrollTop) box.scrollTop = cell.y - 4;
  else if (cell.y + size.height > box.scrollTop + box.clientHeight) box.scrollTop = cell.y + size.height + 4 - box.clientHeight;
  document.getElementById("node-said").textContent = plain(nodeWords(cell.entry));
  paint(box);
}
