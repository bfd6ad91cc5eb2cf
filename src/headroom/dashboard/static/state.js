"use strict";
// What a person looks at lives in the URL, so that a view can be sent to a colleague.

const DEFAULTS = {
  resource: "cpu", group: "", look: "bars", sort: "free", filter: "",
  node: "", object: "", theme: "", order: "", at: "", pod: "",
};

const state = { ...DEFAULTS };

// What these may be; a URL that says something else is taken as if it said nothing.
const ALLOWED = {
  look: /^(bars|grid)$/, sort: /^(free|held|name)$/, theme: /^(dark|light)$/, at: /^\d{1,12}(\.\d{1,6})?$/,
  order: /^(kind|namespace|name|wanted|held|claimed|waiting|misses|next|why)(-down)?$/,
};

function readState() {
  const query = new URLSearchParams(location.search);
  for (const name of Object.keys(DEFAULTS)) {
    const given = (query.get(name) ?? DEFAULTS[name]).slice(0, 500);
    state[name] = name in ALLOWED && !ALLOWED[name].test(given) ? DEFAULTS[name] : given;
  }
}

function setState(changes) {
  Object.assign(state, changes);
  const query = new URLSearchParams();
  for (const name of Object.keys(DEFAULTS)) if (state[name] !== DEFAULTS[name]) query.set(name, state[name]);
  const text = query.toString();
  const target = location.pathname + (text ? "?" + text : "") + location.hash;
  try { history.replaceState(null, "", target); } catch { /* A page opened from a file may not. */ }
}

function applyTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const chosen = state.theme === "dark" || state.theme === "light" ? state.theme : system;
  document.documentElement.dataset.theme = chosen;
  const button = document.getElementById("theme");
  button.setAttribute("aria-pressed", String(chosen === "dark"));
}
