"""The site that `make site` builds: every page, search, light and dark, nothing from elsewhere."""

from __future__ import annotations

import fcntl
import re
import subprocess
from pathlib import Path

import pytest

from tests.tidy.tree import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
LOADED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc="(?P<src>[^"]+)"
      |<link[^>]*\srel="(?:stylesheet|preload|preconnect|icon)"[^>]*\shref="(?P<href>[^"]+)"
      |@import\s+["'](?P<css>[^"']+)
      |url\(["']?(?P<url>[^)"']+)""",
    re.X,
)


@pytest.fixture(scope="module")
def site() -> Path:
    """The site, built as a person builds it, one at a time; a dead link would have ended it."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = ["make", "site"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ROOT / "build" / "site"


def test_every_page_is_there(site: Path) -> None:
    pages = [path.relative_to(ROOT) for path in (ROOT / "docs").glob("**/*.md")]
    assert [path for path in pages if not (site / path).with_suffix(".html").exists()] == []
    assert (site / "index.html").exists()
    assert (site / "examples" / "README.html").exists()


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    foreign = [
        (path.name, target)
        for path in site.glob("**/*")
        if path.suffix in (".html", ".css")
        for found in LOADED.finditer(path.read_text(encoding="utf-8"))
        for target in found.groups()
        if target is not None and re.match(r"(https?:)?//", target)
    ]
    assert foreign == []


def test_it_can_be_searched_and_read_by_day_and_by_night(site: Path) -> None:
    assert "guardian" in (site / "searchindex.js").read_text(encoding="utf-8")
    page = (site / "docs" / "index.html").read_text(encoding="utf-8")
    assert "theme-toggle" in page
    assert 'role="search"' in page
    assert "prefers-color-scheme" in "".join(
        path.read_text(encoding="utf-8") for path in site.glob("_static/styles/*.css")
    )
