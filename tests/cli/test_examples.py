"""Every example is on the page of examples, runs as the page says, and comes out as expected."""

from __future__ import annotations

import re

import pytest

from tests import examples
from tests.cli.commands import headroom
from tests.tidy.tree import ROOT, page

DIALECTS = ("koordinator", "korder", "capacitybuffer", "schedulinggate")


def test_the_page_has_every_example() -> None:
    assert sorted(examples.commands()) == examples.names()
    text = (examples.FOLDER / "README.md").read_text(encoding="utf-8")
    assert [name for name in examples.names() if f"({name}/manifests.yaml)" not in text] == []


@pytest.mark.parametrize("name", examples.names())
def test_an_example_runs_as_it_stands(capsys: pytest.CaptureFixture[str], name: str) -> None:
    files = [str(path) for path in examples.files_of(name)]
    done = headroom(capsys, "simulate", *files, *examples.flags_of(name))
    assert done.code == 0, done.err


@pytest.mark.parametrize("name", DIALECTS)
def test_the_page_of_a_dialect_begins_with_a_manifest_that_runs(name: str) -> None:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page(f"reference/{name}.md"), re.M | re.S)
    manifest = (ROOT / "examples" / name / "manifests.yaml").read_text(encoding="utf-8")
    assert blocks[0] == ("yaml", manifest)
    assert f"headroom simulate examples/{name}/*.yaml --dialect {name}" in blocks[1][1]
