"""What every test of a page asks at its end: no errors, no violations, usable by everybody."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from testbed.axe import axe_script, barriers
from testbed.browser import Page
from testbed.packages import PackageUnavailable

NEEDS_A_NAME = {
    "button",
    "combobox",
    "link",
    "searchbox",
    "slider",
    "textbox",
    "dialog",
    "image",
    "img",
    "table",
    "region",
    "heading",
    "navigation",
}
# Every visible text against its background (WCAG 2: 4.5, large text 3), ids, headings, headers.
CHECK = """(() => {
  const found = [];
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = (value) => { const v = value / 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const style = getComputedStyle(element);
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, noscript, svg")) continue;
    if (element.getBoundingClientRect().right < 0) continue;
    const a = light(parse(style.color)), b = light(behind(element));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push("contrast " + ratio.toFixed(2) + " of " + walker.currentNode.data.trim().slice(0, 40));
  }
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  for (const id of new Set(ids)) if (ids.filter((each) => each === id).length > 1) found.push("id twice: " + id);
  let level = 0;
  for (const each of document.querySelectorAll("h1, h2, h3")) {
    if (!each.checkVisibility()) continue;
    const own = Number(each.tagName[1]);
    if (own > level + 1) found.push("heading jumps: " + each.textContent);
    level = own;
  }
  for (const table of document.querySelectorAll("table")) if (!table.querySelector("th[scope]")) found.push("table without headers");
  for (const field of document.querySelectorAll("input, select")) if (!field.labels.length) found.push("field without label: " + field.id);
  if (document.documentElement.scrollWidth > innerWidth + 1) found.push("the page is wider than its window");
  if (!document.documentElement.lang || !document.title) found.push("no language or no title");
  return found;
})()"""  # noqa: E501


def assert_well(page: Page) -> None:
    """No error in the console, no violation of the policy, nothing that shuts anybody out."""
    assert page.errors == []
    assert page.violations == []
    trouble = page.eval(CHECK)
    assert not trouble, trouble
    if axe_is_here():
        found = barriers(page)
        assert not found, "\n".join(found)
    tree = page.send("Accessibility.getFullAXTree")["nodes"]
    nameless = [
        _role(each)
        for each in tree
        if not each.get("ignored") and _role(each) in NEEDS_A_NAME and not _name(each)
    ]
    assert [role for role in nameless if role != "table"] == []


@cache
def axe_is_here() -> bool:
    """Whether axe-core can be had; without it a loud line says so, and our own check remains."""
    try:
        axe_script()
    except PackageUnavailable as trouble:
        print(f"\nNO CHECK WITH AXE-CORE: {trouble}", file=sys.__stderr__)
        return False
    return True


def _role(node: dict[str, Any]) -> str:
    return str(node.get("role", {}).get("value", ""))


def _name(node: dict[str, Any]) -> str:
    return str(node.get("name", {}).get("value", "")).strip()
