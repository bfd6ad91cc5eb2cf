"use strict";
// Tables of objects, cost and waiting pods, and the dialog that a row or a node opens.

const OBJECT_COLUMNS = ["kind", "namespace", "name", "wanted", "held", "claimed", "waiting", "misses", "next", "why"];
const NUMBERS = new Set(["wanted", "held", "claimed", "waiting", "misses", "cpu", "share"]);
const MOST_ROWS = 200;

function heading(name, sortable) {
  const cell = make("th", { scope: "col", class: NUMBERS.has(name) ? "number" : "" });
  if (!sortable) { cell.textContent = plain(name); return cell; }
  const [chosen, down] = state.order.split("-");
  if (chosen === name) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
  const button = make("button", { type: "button", text: name });
  button.addEventListener("click", () => { setState({ order: chosen === name && !down ? name + "-down" : name }); drawObjects(); });
  cell.append(button);
  return cell;
}

function simpleTable(headings, rows, name) {
  const body = make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell, index) =>
    cell instanceof Node ? make("td", {}, cell) : make("td", { text: cell, class: typeof cell === "number" ? "number" : headings[index] === "why" || headings[index] === "reason" || headings[index] === "answer" ? "why" : "" })))));
  const table = make("table", { "data-table": name }, make("thead", {}, make("tr", {}, ...headings.map((each) => heading(each, false)))), body);
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table: " + name }, table);
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
  const body = make("tbody", {}, ...shown.map(([reference, row]) => make("tr", { "data-row": reference }, ...OBJECT_COLUMNS.map((column) => {
    if (column === "name") return make("td", {}, opener(row.name, reference));
    if (column === "next") return make("td", { text: row.next ? clockTime(row.next) : row.ends ? "ends " + clockTime(row.ends) : "" });
    if (column === "why") return make("td", { class: "why", text: [row.phase, row.promise, row.why].filter(Boolean).join(": ") });
    return make("td", { text: row[column], class: NUMBERS.has(column) ? "number" : "" });
  }))));
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...OBJECT_COLUMNS.map((name) => heading(name, true)))), body);
  const rest = found.length > shown.length ? make("p", { class: "more", text: "and " + (found.length - shown.length) + " more; the filter finds them" }) : null;
  if (!entries.length) area.replaceChildren(make("p", { class: "quiet", text: "There is no Headroom and no Hold." }));
  else area.replaceChildren(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table: Headrooms and Holds" }, table), ...(rest ? [rest] : []));
  if (focused) area.querySelector('[data-object="' + CSS.escape(focused) + '"]')?.focus();
}

function drawCost() {
  const { cost } = model.data;
  const priced = cost.unit === "price";
  const say = (value) => (priced ? digits(value) + " per hour" : digits(value) + " CPU hours per hour");
  const parts = [make("p", { text: "Held room costs " + say(cost.total) + (priced ? "" : " (no prices are known)") + (cost.unpriced ? "; " + cost.unpriced + " nodes have no price and are left out" : "") })];
  for (const [title, rows] of [["pool", cost.pools], ["namespace", cost.namespaces]]) {
    const entries = Object.entries(rows).sort((a, b) => b[1] - a[1] || compare(a[0], b[0])).slice(0, 100);
    if (!entries.length) continue;
    const most = Math.max(...entries.map((entry) => entry[1]), 1e-9);
    parts.push(simpleTable([title, "per hour", ""], entries.map(([name, value]) => {
      const bar = make("span", { class: "amount", "aria-hidden": "true" });
      bar.style.width = (160 * value) / most + "px";
      return [name, digits(value), bar];
    }), "cost by " + title));
  }
  document.getElementById("cost-area").replaceChildren(...parts);
}

function drawWaiting() {
  const area = document.getElementById("waiting-area");
  const entries = Object.entries(model.data.waiting).sort((a, b) => compare(a[0], b[0]));
  if (!entries.length) { area.replaceChildren(make("p", { class: "quiet", text: "Nobody waits." })); return; }
  const more = entries.length - MOST_ROWS + (model.data.more_waiting || 0);
  const rows = entries.slice(0, MOST_ROWS).map(([name, row]) => [
    row.namespace, opener(row.name, "Pod/" + name), row.guardian ? "guardian of " + row.guardian : "pod", amounts(row.requests), clockTime(row.since), row.reason,
  ]);
  area.replaceChildren(simpleTable(["namespace", "name", "what", "asks for", "since", "reason"], rows, "waiting pods"),
    ...(more > 0 ? [make("p", { class: "more", text: "and " + more + " more" })] : []));
}

async function openDetails(title, load) {
  const dialog = document.getElementById("details");
  const area = document.getElementById("details-area");
  document.getElementById("details-title").textContent = plain(title);
  area.replaceChildren(make("p", { class: "quiet", text: "Asking…" }));
  if (!dialog.open) dialog.showModal();
  try {
    area.replaceChildren(...(await load()));
  } catch (trouble) {
    area.replaceChildren(make("p", { text: "No answer: " + trouble.message }));
  }
}

function openNode(name) {
  setState({ node: name, object: "" });
  return openDetails("Node " + name, async () => {
    const found = await detail("node", name);
    const rows = found.pods.map((pod) => [pod.namespace, pod.name, pod.use, pod.for, amounts(pod.requests), pod.phase]);
    const row = model.data.nodes[name];
    const head = row ? make("p", { text: nodeWords({ name, row, parts: partsOf(row, state.resource) }) }) : null;
    const hidden = found.hidden ? make("p", { class: "quiet", text: found.hidden + " pods of other namespaces are not shown" }) : null;
    return [head, simpleTable(["namespace", "name", "use", "held for", "requests", "phase"], rows, "pods of the node"), hidden].filter(Boolean);
  });
}

function openObject(reference) {
  setState({ object: reference, node: "" });
  return openDetails(reference, async () => explained(await detail("explain", reference)));
}

function explained(told) {
  const parts = [make("p", { text: told.summary })];
  if (told.facts.length) parts.push(make("dl", {}, ...told.facts.flatMap((fact) => [make("dt", { text: fact.topic }), make("dd", { text: fact.text })])));
  if (told.holds.length) parts.push(simpleTable(["hold", "answer"], told.holds.slice(0, MOST_ROWS).map((each) => [each.hold, each.answer]), "holds"));
  if (told.slots.length) parts.push(simpleTable(["slot", "state", "node", "why"], told.slots.slice(0, MOST_ROWS).map((each) => [each.slot, each.state, each.node, each.why]), "slots"));
  if (told.nodes.length) parts.push(simpleTable(["node", "answer"], told.nodes.slice(0, MOST_ROWS).map((each) => [each.node, each.answer || "fits"]), "answers of nodes"));
  if (told.next) parts.push(make("p", { text: "next: " + told.next }));
  return parts;
}
