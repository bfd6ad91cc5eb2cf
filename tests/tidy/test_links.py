"""No page sends its readers to a file or a heading that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tidy.tree import ROOT, short

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)
PAGES = sorted(
    path
    for folder in ("docs", "examples", "deploy", ".")
    for path in (ROOT / folder).glob("*.md" if folder == "." else "**/*.md")
)


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links spell them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {_slug(title) for title in HEADING.findall(text)}


def _slug(title: str) -> str:
    bare = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title.strip().lower())
    return re.sub(r"[^\w\- ]", "", bare).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    dead = []
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []


def test_every_page_is_reached_from_the_start() -> None:
    seen, waiting = set(), [ROOT / "README.md", ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen:
            continue
        seen.add(page)
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.exists():
                waiting.append(target)
    pages = {page for page in PAGES if page.is_relative_to(ROOT / "docs")}
    # Decisions are a folder by number: whoever opens it sees them all.
    alone = [page for page in pages - seen if page.parent.name != "decisions"]
    assert sorted(short(page) for page in alone) == []
