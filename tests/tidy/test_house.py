"""Commands that the pages show exist, locks are locked."""

from __future__ import annotations

import re

import pytest

from tests.tidy.tree import ROOT, short, tracked_files

PAGES = [path for path in tracked_files() if path.suffix == ".md"]


def test_every_make_command_on_a_page_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    shown = {
        (short(path), target)
        for path in PAGES
        for target in re.findall(r"(?:^|[`$(] ?)make ([a-z-]+)\b", path.read_text(), re.M)
    }
    assert {(page, target) for page, target in shown if target not in targets} == set()


def test_every_target_tells_what_it_is_for() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.M)
    assert phony
    told = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.M))
    assert set(phony[1].split()) == told


@pytest.mark.parametrize("name", ["runtime", "dev", "site"])
def test_every_requirement_is_pinned_and_hashed(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    loose = [line.split()[0] for line in lines if "==" not in line or "--hash=sha256:" not in line]
    assert lines
    assert loose == []


def test_ci_runs_what_people_run() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert re.findall(r"^make (\w+)$", script, re.M) == ["check", "test"]


def test_the_readme_fits_on_a_screen() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 60
