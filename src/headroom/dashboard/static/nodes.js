"use strict";
// Nodes as bars or as a grid: elements up to some hundreds, one canvas above that.

const USES = ["used", "claimed", "held"];
const MOST_ELEMENTS = 300;
const CELL = { bars: { width: 260, height: 16 }, grid: { width: 26, height: 18 } };
const canvasState = { cells: [], chosen: -1 };

function resourcesOf(nodes) {
  const found = new Set(["cpu", "memory"]);
  for (const row of Object.values(nodes)) for (const name of Object.keys(row.whole)) found.add(name);
  const rank = (name) => (name === "cpu" ? 0 : name === "memory" ? 1 : 2);
  return [...found].filter((name) => name !== "ephemeral-storage").sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

function partsOf(row, resource) {
  const whole = row.whole[resource] || 0;
  const found = { whole };
  for (const use of USES) found[use] = resource === "pods" ? (use === "used" ? row.pods : 0) : row[use][resource] || 0;
  found.free = whole - found.used - found.claimed - found.held;
  return found;
}

function groupOf(name, row) {
  if (state.group === "pool") return row.pool || "no pool";
  if (state.group === "zone") return row.zone || "no zone";
  if (state.group.startsWith("label:")) return (model.data.labels[name] || {})[state.group.slice(6)] || "without this label";
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

function colours() {
  const style = getComputedStyle(document.documentElement);
  const found = {};
  for (const name of [...USES, "free", "text", "miss", "focus", "card", "hatch"]) found[name] = style.getPropertyValue("--" + name).trim();
  return found;
}

function drawCanvas(area, entries) {
  let canvas = area.querySelector("canvas");
  if (!canvas) {
    canvas = make("canvas", { tabindex: "0", role: "img" });
    canvas.addEventListener("click", (event) => openCell(cellAt(canvas, event)));
    canvas.addEventListener("mousemove", (event) => {
      const cell = canvasState.cells[cellAt(canvas, event)];
      canvas.title = cell ? plain(nodeWords(cell.entry)) : "";
    });
    canvas.addEventListener("keydown", (event) => moveInCanvas(canvas, event));
    area.replaceChildren(canvas);
  }
  const size = CELL[state.look] || CELL.bars;
  const width = Math.max(300, area.clientWidth || 900);
  const columns = Math.max(1, Math.floor(width / (size.width + 3)));
  const cells = [];
  const titles = [];
  let y = 4;
  let x = 0;
  let group = null;
  for (const entry of entries) {
    if (entry.group !== group) {
      group = entry.group;
      if (x) { y += size.height + 3; x = 0; }
      if (group) { titles.push([group, y + 12]); y += 18; }
    }
    cells.push({ entry, x: 2 + x * (size.width + 3), y, group });
    x += 1;
    if (x === columns) { x = 0; y += size.height + 3; }
  }
  canvasState.cells = cells;
  canvasState.columns = columns;
  if (canvasState.chosen >= cells.length) canvasState.chosen = cells.length - 1;
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const height = Math.min(16000, y + size.height + 6);
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.height = height + "px";
  canvas.setAttribute("aria-label", entries.length + " nodes. Arrow keys move from node to node, Enter opens one; the filter above finds one by name.");
  paint(canvas, size, titles, ratio);
}

// Held room is hatched here as in the bars.
function hatch(pen, colour) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const brush = tile.getContext("2d");
  brush.fillStyle = colour.held;
  brush.fillRect(0, 0, 6, 6);
  brush.strokeStyle = colour.hatch;
  brush.lineWidth = 1.5;
  for (const shift of [-6, 0, 6]) { brush.beginPath(); brush.moveTo(shift, 6); brush.lineTo(shift + 6, 0); brush.stroke(); }
  return pen.createPattern(tile, "repeat");
}

function paint(canvas, size, titles, ratio) {
  const pen = canvas.getContext("2d");
  const colour = colours();
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = colour.card;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = colour.text;
  for (const [title, y] of titles) pen.fillText(plain(title), 2, y);
  const hatched = hatch(pen, colour);
  canvasState.cells.forEach((cell, index) => {
    const { parts } = cell.entry;
    const whole = Math.max(parts.whole, parts.used + parts.claimed + parts.held, 1);
    pen.fillStyle = colour.free;
    pen.fillRect(cell.x, cell.y, size.width, size.height);
    let x = cell.x;
    for (const use of USES) {
      const part = (size.width * Math.max(0, parts[use])) / whole;
      pen.fillStyle = use === "held" ? hatched : colour[use];
      pen.fillRect(x, cell.y, part, size.height);
      x += part;
    }
    if (cell.entry.row.state) { pen.strokeStyle = colour.miss; pen.lineWidth = 1; pen.strokeRect(cell.x, cell.y, size.width, size.height); }
    if (index === canvasState.chosen) { pen.strokeStyle = colour.focus; pen.lineWidth = 3; pen.strokeRect(cell.x - 1, cell.y - 1, size.width + 2, size.height + 2); }
  });
}

function cellAt(canvas, event) {
  const box = canvas.getBoundingClientRect();
  const size = CELL[state.look] || CELL.bars;
  const x = event.clientX - box.left;
  const y = event.clientY - box.top;
  return canvasState.cells.findIndex((cell) => x >= cell.x && x <= cell.x + size.width && y >= cell.y && y <= cell.y + size.height);
}

function openCell(index) {
  const cell = canvasState.cells[index];
  if (cell) openNode(cell.entry.name);
}

function moveInCanvas(canvas, event) {
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: canvasState.columns, ArrowUp: -canvasState.columns };
  if (event.key === "Enter" || event.key === " ") { openCell(canvasState.chosen); event.preventDefault(); return; }
  if (!(event.key in steps)) return;
  event.preventDefault();
  canvasState.chosen = Math.min(canvasState.cells.length - 1, Math.max(0, canvasState.chosen + steps[event.key]));
  const cell = canvasState.cells[canvasState.chosen];
  if (cell) document.getElementById("node-said").textContent = plain(nodeWords(cell.entry));
  drawNodes();
}
