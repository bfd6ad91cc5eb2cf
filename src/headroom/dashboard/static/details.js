"use strict";
// The dialog that a row or a node opens.

async function openDetails(title, load) {
  const dialog = document.getElementById("details");
  const area = document.getElementById("details-area");
  document.getElementById("details-title").textContent = plain(title);
  area.replaceChildren(make("p", { class: "quiet", text: "Asking…" }));
  const opened = title + " " + Math.random();
  dialog.dataset.opened = opened;
  if (!dialog.open) dialog.showModal();
  try {
    const found = await load();
    if (dialog.dataset.opened !== opened) return;
    const back = model.frame !== null ? [make("p", { class: "quiet", text: "This is of the newest moment, not of the one that you look back on." })] : [];
    area.replaceChildren(...back, ...found);
  } catch (trouble) {
    if (dialog.dataset.opened === opened) area.replaceChildren(make("p", { text: "No answer: " + trouble.message }));
  }
}

function openNode(name) {
  setState({ node: name, object: "" });
  return openDetails("Node " + name, async () => {
    const found = await detail("node", name);
    const rows = found.pods.map((pod) => [pod.namespace, pod.name, pod.use, pod.for, amounts(pod.requests), pod.phase]);
    const row = own(model.data.nodes, name);
    const head = row ? resourceTable(row) : null;
    const facts = row ? make("p", { class: "quiet", text: [row.pool && "pool " + row.pool, row.zone && "zone " + row.zone, row.state].filter(Boolean).join(", ") }) : null;
    const hidden = found.hidden ? make("p", { class: "quiet", text: found.hidden + " pods of other namespaces are not shown" }) : null;
    const pods = rows.length ? simpleTable(["namespace", "name", "use", "held for", "requests", "phase"], rows, "pods of the node") : make("p", { class: "quiet", text: "There is no pod on it." });
    return [facts, head, pods, hidden].filter(Boolean);
  });
}

// Every resource of a node, not only the one that is drawn.
function resourceTable(row) {
  const rows = resourcesOf({ row }).filter((name) => row.whole[name]).map((name) => {
    const parts = partsOf(row, name);
    return [name, ...[...USES, "free", "whole"].map((use) => amount(name, parts[use]))];
  });
  return simpleTable(["resource", ...USES, "free", "of"], rows, "resources of the node");
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
