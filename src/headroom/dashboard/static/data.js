"use strict";
// The data: embedded in the page, or a snapshot and then differences from the server.

const MAPS = ["nodes", "labels", "objects", "waiting", "timeline"];
const model = { data: null, token: "", lastId: "", embedded: null, frame: null, newest: null };

// The snapshot after a difference; `touched` is told which parts are new.
function changed(old, change, touched) {
  const fresh = { ...old, at: change.at, revision: change.revision };
  for (const [name, value] of Object.entries(change.set)) {
    touched?.add(name);
    fresh[name] = MAPS.includes(name) ? { ...old[name], ...value } : value;
  }
  for (const [name, keys] of Object.entries(change.gone)) {
    touched?.add(name);
    fresh[name] = { ...fresh[name] };
    for (const key of keys) delete fresh[name][key];
  }
  return fresh;
}

// The newest picture; while somebody looks back, it is not the one that is drawn.
function newest() {
  return model.frame === null ? model.data : model.newest;
}

function setNewest(data) {
  if (model.frame === null) model.data = data;
  else {
    model.newest = data;
    model.data = { ...model.data, timeline: data.timeline, control: data.control };
  }
}

function applyDifference(change) {
  const touched = new Set();
  setNewest(changed(newest(), change, touched));
  return touched;
}

// A page in a file has its first moment whole and then differences.
function frameIn(at) {
  let found = null;
  for (const frame of model.embedded.frames || []) {
    if (found && frame.elapsed > at) break;
    found = frame.whole ? frame.whole : frame.change ? changed(found, frame.change) : found;
    found = { ...found, at: frame.at };
  }
  return found || {};
}

async function ask(path, options) {
  const headers = { ...(options?.headers || {}) };
  if (model.token) headers.Authorization = "Bearer " + model.token;
  const answer = await fetch("api/v1/" + path, { ...options, headers, cache: "no-store", credentials: "omit" });
  if (!answer.ok) {
    const error = new Error((await answer.text()).trim() || "HTTP " + answer.status);
    error.status = answer.status;
    throw error;
  }
  return answer;
}

// Pods by a part of their name; a file has those that it shows.
async function findPods(text) {
  if (!model.embedded) return (await ask("pods?name=" + encodeURIComponent(text))).json();
  const wanted = text.toLowerCase();
  const all = Object.entries(model.embedded.node || {}).flatMap(([node, found]) => found.pods.map((pod) => ({ ...pod, node })));
  for (const row of Object.values(model.data.waiting)) all.push({ ...row, node: "", use: "waits", phase: "Pending", for: row.guardian });
  const found = all.filter((pod) => (pod.namespace + "/" + pod.name).toLowerCase().includes(wanted));
  return { pods: found.slice(0, 100), more: Math.max(0, found.length - 100) };
}

async function detail(kind, name) {
  if (model.embedded) {
    const found = own(model.embedded[kind], name);
    if (!found) throw new Error("this file has no more about it; ask headroom explain");
    return found;
  }
  const query = kind === "node" ? "node?name=" : "explain?object=";
  return (await ask(query + encodeURIComponent(name))).json();
}

// One message of a stream: lines `field: value`, ended by an empty line.
function readMessage(text, tell) {
  const fields = { event: "", data: "", id: "" };
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
  }
  if (!fields.data) return;
  const value = JSON.parse(fields.data);
  if (fields.event === "difference") {
    if (!model.data || value.from !== newest().revision) throw new Error("a difference is missing");
    tell(applyDifference(value));
  } else {
    setNewest(value);
    tell(null);
  }
  model.lastId = fields.id;
}

async function readStream(tell) {
  const headers = { Accept: "text/event-stream" };
  if (model.lastId && model.data) headers["Last-Event-ID"] = model.lastId;
  const answer = await ask("stream", { headers });
  tell(new Set());
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    let end = rest.indexOf("\n\n");
    while (end >= 0) {
      readMessage(rest.slice(0, end), tell);
      rest = rest.slice(end + 2);
      end = rest.indexOf("\n\n");
    }
  }
}

// Follow the server for ever; `said` is told how that goes.
async function follow(tell, said) {
  let pause = 500;
  for (;;) {
    try {
      await readStream((touched) => { pause = 500; said("live", ""); tell(touched); });
      said("broken", "the connection ended");
    } catch (trouble) {
      if (trouble.status === 401 || trouble.status === 403) { said("refused", trouble.message); return; }
      if (!trouble.status) model.lastId = model.data && trouble.message !== "a difference is missing" ? model.lastId : "";
      said("broken", trouble.message);
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 15000);
  }
}
