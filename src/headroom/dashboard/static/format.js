"use strict";
// Text for people. Whatever objects say goes through `plain` and `textContent`, never into markup.

// Characters that are invisible or turn the order of letters, as headroom.escaping has them.
const HOSTILE = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff]|\udb40[\udc00-\udfff]/gu;
const SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

function plain(text) {
  return String(text ?? "").replace(HOSTILE, (found) => {
    const code = found.codePointAt(0);
    return code > 255 ? "\\u" + code.toString(16).padStart(4, "0") : "\\x" + code.toString(16).padStart(2, "0");
  });
}

// A field of an object, and nothing that every object has: names come from people.
function own(object, name) {
  return object && Object.hasOwn(object, name) ? object[name] : undefined;
}

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "text") element.textContent = plain(value);
    else if (name === "class") element.className = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function drawn(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = plain(text);
  return element;
}

function digits(value) {
  return Number(value.toPrecision(4)).toString();
}

function amount(resource, value) {
  if (resource === "cpu") return digits(value / 1000);
  if (resource === "memory" || resource === "ephemeral-storage") {
    let rank = 0;
    let scaled = Math.abs(value);
    while (scaled >= 1024 && rank < SUFFIXES.length - 1) { scaled /= 1024; rank += 1; }
    return (value < 0 ? "-" : "") + digits(scaled) + SUFFIXES[rank];
  }
  return String(value);
}

function amounts(requests) {
  return Object.keys(requests || {}).sort().map((name) => name + " " + amount(name, requests[name])).join(", ");
}

function share(part, whole) {
  return whole > 0 ? Math.round((100 * part) / whole) : 0;
}

function clockTime(text) {
  if (!text) return "";
  const moment = new Date(text);
  return Number.isNaN(moment.getTime()) ? plain(text) : moment.toISOString().replace("T", " ").replace(/(:\d\d)\.\d+Z$/, "$1 UTC");
}

// A moment as short as it can be said beside the time of the picture.
function nearTime(text) {
  const whole = clockTime(text);
  if (whole.length !== 23) return whole;
  const short = whole.endsWith(":00 UTC") ? whole.slice(0, 16) + " UTC" : whole;
  const day = clockTime(model.data?.at).slice(0, 10);
  if (short.startsWith(day)) return short.slice(11);
  return short.startsWith(day.slice(0, 4)) ? short.slice(5) : short;
}

function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 120) return whole + " s";
  if (whole < 7200) return Math.floor(whole / 60) + " min";
  return whole < 172800 ? Math.floor(whole / 3600) + " h" : Math.floor(whole / 86400) + " d";
}

function percent(part) {
  return Math.floor(part * 10000) / 100 + " %";
}

function stopwatch(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (number) => String(number).padStart(2, "0");
  return Math.floor(whole / 3600) + ":" + two(Math.floor(whole / 60) % 60) + ":" + two(whole % 60);
}
