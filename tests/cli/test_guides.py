"""The tutorial and every guide are followed to the letter, in the order of their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.pages import BLOCK, followed
from tests.tidy.tree import ROOT, page

SLOW = ("guides/how-much-headroom.md",)
PAGES = sorted(
    str(path.relative_to(ROOT / "docs"))
    for folder in ("guides", "tutorial")
    for path in (ROOT / "docs" / folder).glob("*.md")
)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.e2e] if name in SLOW else []) for name in PAGES],
)
def test_a_page_works_as_it_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    ran = followed(capsys, tmp_path, page(name))
    assert ran


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_its_commands_say(name: str) -> None:
    assert "text" in {block["kind"] for block in BLOCK.finditer(page(name))}
