"use strict";
// The tiles at the top, and tables of objects, cost, waiting pods and pods that were looked for.

const OBJECT_COLUMNS = ["kind", "namespace", "name", "wanted", "held", "claimed", "waiting", "misses", "next", "why"];
const NUMBERS = new Set(["wanted", "held", "claimed", "waiting", "misses", "cpu", "share"]);
const MOST_ROWS = 200;
const WIDE_TEXT = new Set(["why", "reason", "answer", "promise"]);
const PLACES = new Set(["object", "name", "hold", "node", "held for"]);
const TITLES = { claimed: "claimed so far", misses: "misses so far", waiting: "slots waiting" };

function heading(name, sortable) {
  const cell = make("th", { scope: "col", class: (sortable && NUMBERS.has(name) ? "number " : "") + "col-" + name.split(" ")[0] });
  if (!name) return make("td");
  if (!sortable) { cell.textContent = plain(name); return cell; }
  const [chosen, down] = state.order.split("-");
  if (chosen === name) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
  const button = make("button", { type: "button", text: TITLES[name] || name, "data-sort": name });
  button.addEventListener("click", () => { setState({ order: chosen === name && !down ? name + "-down" : name }); drawObjects(); });
  cell.append(button);
  return cell;
}

function simpleTable(headings, rows, name) {
  const body = make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell, index) => simpleCell(cell, headings[index])))));
  const heads = headings.map((each, index) => {
    const cell = heading(each, false);
    if (rows.length && typeof rows[0][index] === "number") cell.classList.add("number");
    return cell;
  });
  const table = make("table", { "data-table": name }, make("thead", {}, make("tr", {}, ...heads)), body);
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table: " + name }, table);
}

function simpleCell(cell, title) {
  const kind = typeof cell === "number" ? "number" : WIDE_TEXT.has(title) ? "why" : PLACES.has(title) ? "place" : "";
  const classes = (kind + " col-" + title.split(" ")[0]).trim();
  return cell instanceof Node ? make("td", { class: classes }, cell) : make("td", { text: cell, class: classes });
}

function opener(text, reference) {
  const button = make("button", { type: "button", text, "data-object": reference });
  button.addEventListener("click", () => openObject(reference));
  return button;
}

function drawObjects() {
  const area = document.getElementById("object-area");
  const [chosen, down] = state.order.split("-");
  const entries = Object.entries(model.data.objects).sort(([a, first], [b, second]) => {
    const left = first[chosen];
    const right = second[chosen];
    const by = chosen && left !== right ? (typeof left === "number" ? left - right : compare(String(left), String(right))) : 0;
    return (down ? -by : by) || compare(a, b);
  });
  const wanted = state.filter.toLowerCase();
  const found = entries.filter(([name, row]) => !wanted || (name + " " + row.why).toLowerCase().includes(wanted));
  const shown = (found.length ? found : entries).slice(0, MOST_ROWS);
  const focused = document.activeElement?.dataset?.object;
  const sorted = document.activeElement?.dataset?.sort;
  const body = make("tbody", {}, ...shown.map(([reference, row]) => make("tr", { "data-row": reference }, ...OBJECT_COLUMNS.map((column) => objectCell(column, reference, row)))));
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...OBJECT_COLUMNS.map((name) => heading(name, true)))), body);
  const rest = found.length > shown.length ? make("p", { class: "more", text: "and " + (found.length - shown.length) + " more; the filter finds them" }) : null;
  if (!entries.length) area.replaceChildren(make("p", { class: "quiet", text: "There is no Headroom and no Hold here yet. Once one is created, it appears with what it wants, what is held, and why." }));
  else area.replaceChildren(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table: Headrooms and Holds" }, table), ...(rest ? [rest] : []));
  if (focused) area.querySelector('[data-object="' + CSS.escape(focused) + '"]')?.focus();
  else if (sorted) area.querySelector('[data-sort="' + CSS.escape(sorted) + '"]')?.focus();
}

function objectCell(column, reference, row) {
  const kind = "col-" + column;
  if (column === "name") return make("td", { class: kind + " place" }, opener(row.name, reference), make("span", { class: "sub", text: row.kind + " in " + row.namespace + (row.next ? ", next " + nearTime(row.next) : row.ends ? ", ends " + nearTime(row.ends) : "") }));
  if (column === "next") {
    const text = row.next ? nearTime(row.next) : row.ends ? "ends " + nearTime(row.ends) : "";
    return make("td", { class: kind + " when", text, title: plain(clockTime(row.next || row.ends)) });
  }
  if (column === "why") return make("td", { class: kind + " why", text: [...new Set([row.phase, row.promise, row.why].filter(Boolean))].join(": ") });
  const short = column === "held" && row.held < row.wanted && row.waiting > 0 ? " short" : "";
  return make("td", { text: row[column], class: kind + (NUMBERS.has(column) ? " number" : " where") + short });
}

// The first thing to see: is what is wanted there, does anybody wait, what does it cost.
function drawSummary() {
  const rows = Object.values(model.data.objects);
  const sum = (name) => rows.reduce((total, row) => total + (row[name] || 0), 0);
  const moments = Object.keys(model.data.timeline).map(Number);
  const now = moments.length ? model.data.timeline[String(Math.max(...moments))] : null;
  const waiting = Object.values(model.data.waiting).filter((row) => !row.guardian).length + (model.data.more_waiting || 0);
  const { cost } = model.data;
  const missing = rows.reduce((total, row) => total + Math.max(0, Math.min(row.waiting, row.wanted - row.held)), 0);
  const late = rows.filter((row) => row.achieved && row.achieved.kept === "False").length;
  const tiles = [
    ["objects", sum("held") + " of " + sum("wanted"), missing ? missing + (missing === 1 ? " slot waits" : " slots wait") : "slots held", !sum("wanted") ? "" : missing ? "bad" : "good"],
    ["waiting", String(waiting), waiting === 1 ? "pod waits" : "pods wait", waiting ? "bad" : "good"],
    ["timeline", String(sum("misses")), "owners found no slot", ""],
    ["cost", digits(cost.total), (cost.unit === "price" ? "" : "CPU hours ") + "per hour for held room", ""],
  ];
  if (now && model.frame === null) tiles.splice(1, 0, ["timeline", String(now[2]), "owners in held room", ""]);
  if (now && model.frame === null && now[5]) tiles.splice(4, 0, ["timeline", percent(1 - now[6] / now[5]), late ? late + (late === 1 ? " promise is" : " promises are") + " not kept" : "of owners in time, last hour", late ? "bad" : "good"]);
  document.getElementById("summary").replaceChildren(...tiles.map(([target, value, what, kind]) => make("li", {}, make("a", { href: "#" + target, class: kind }, make("span", { class: "value", text: value }), make("span", { class: "what", text: what })))));
}

function drawCost() {
  const { cost } = model.data;
  const priced = cost.unit === "price";
  const say = (value) => (priced ? digits(value) + " per hour" : digits(value) + " CPU hours per hour");
  const parts = [];
  for (const [title, rows] of [["pool", cost.pools], ["namespace", cost.namespaces]]) {
    const entries = Object.entries(rows).sort((a, b) => b[1] - a[1] || compare(a[0], b[0])).slice(0, 100);
    if (!entries.length) continue;
    const most = Math.max(...entries.map((entry) => entry[1]), 1e-9);
    parts.push(simpleTable([title, "per hour", ""], entries.map(([name, value]) => {
      const bar = make("span", { class: "amount held", "aria-hidden": "true" });
      bar.style.width = (120 * value) / most + "px";
      return [name, Number(digits(value)), bar];
    }), "cost by " + title));
  }
  const notes = [priced ? "" : "No prices are known: give them with --price, --price-file or a label of nodes.", cost.unpriced ? cost.unpriced + " nodes with held room have no price and are left out." : ""].filter(Boolean);
  const head = [make("p", { class: "total", text: cost.total || parts.length ? "Held room costs " + say(cost.total) : "Nothing is held, so nothing is paid for it." })];
  document.getElementById("cost-area").replaceChildren(...head, make("div", { class: "pair" }, ...parts), ...notes.map((text) => make("p", { class: "quiet", text })));
}

function drawWaiting() {
  const area = document.getElementById("waiting-area");
  const wanted = state.filter.toLowerCase();
  const all = Object.entries(model.data.waiting).sort((a, b) => compare(a[0], b[0]));
  if (!all.length) { area.replaceChildren(make("p", { class: "quiet", text: "No pod waits." })); return; }
  const matching = all.filter(([name, row]) => !wanted || (name + " " + row.guardian + " " + row.reason).toLowerCase().includes(wanted));
  const entries = matching.length ? matching : all;
  const more = Math.max(0, entries.length - MOST_ROWS) + (model.data.more_waiting || 0);
  const now = secondsOf(model.data.at);
  const focused = document.activeElement?.dataset?.object;
  const rows = entries.slice(0, MOST_ROWS).map(([name, row]) => [
    row.namespace, named(opener(row.name, "Pod/" + name), "in " + row.namespace), row.guardian ? "guardian of " + row.guardian : "pod", amounts(row.requests),
    row.since ? make("span", { text: duration(now - secondsOf(row.since)), title: plain(clockTime(row.since)) }) : "", row.reason,
  ]);
  area.replaceChildren(simpleTable(["namespace", "name", "what", "asks for", "for", "reason"], rows, "waiting pods"),
    ...(more > 0 ? [make("p", { class: "more", text: "and " + more + " more; find them below" })] : []));
  if (focused) area.querySelector('[data-object="' + CSS.escape(focused) + '"]')?.focus();
}

function named(button, text) {
  return make("div", {}, button, make("span", { class: "sub", text }));
}

// Pods by name, on nodes or waiting; asked once, and again when somebody asks.
async function lookForPods() {
  const area = document.getElementById("pod-area");
  if (!state.pod) { area.replaceChildren(); return; }
  const asked = state.pod;
  area.replaceChildren(make("p", { class: "quiet", text: "Asking…" }));
  try {
    const found = await findPods(asked);
    if (asked === state.pod) area.replaceChildren(...podTable(found));
  } catch (trouble) {
    area.replaceChildren(make("p", { text: "No answer: " + trouble.message }));
  }
}

function podTable({ pods, more }) {
  if (!pods.length) return [make("p", { class: "quiet", text: "No pod has that in its name." })];
  const rows = pods.map((pod) => {
    const where = pod.node ? make("button", { type: "button", text: pod.node, "data-opens": pod.node }) : "waits";
    if (pod.node) where.addEventListener("click", () => openNode(pod.node));
    return [pod.namespace, named(opener(pod.name, "Pod/" + pod.namespace + "/" + pod.name), "in " + pod.namespace), pod.use, where, pod.for, amounts(pod.requests), pod.phase];
  });
  const table = simpleTable(["namespace", "name", "use", "node", "held for", "asks for", "phase"], rows, "pods found");
  return [table, ...(more > 0 ? [make("p", { class: "more", text: "and " + more + " more; write more of the name" })] : [])];
}

