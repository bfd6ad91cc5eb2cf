"""Prices of nodes by flag, by file and by label, up to what the page says held room costs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import headroom
from tests.dashboard.worlds import END, guardian, node

PRICE_LABEL = {"headroom.dev/price-per-hour": "8"}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A quarter of one node of each pool is held; one node says its own price."""
    objects = [
        node("a", "general"),
        node("b", "memory"),
        node("c", "general", **PRICE_LABEL),
        *(guardian(f"g-{on}", "Headroom/shop/burst", on, on) for on in "abc"),
    ]
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"kind": "Dump", "end": END, "objects": objects}))
    return file


def cost(dump: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, Any]:
    page = dump.with_suffix(".html")
    done = headroom(capsys, "view", str(dump), "--html", str(page), *flags)
    assert done.code == 0, done.err
    found = re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)
    assert found is not None
    said: dict[str, Any] = json.loads(found[1])["snapshot"]["cost"]
    return said


def test_the_label_of_a_node_wins_over_the_flag_and_the_flag_over_the_file(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("general: 4\nmemory: 12\n")
    only_file = cost(dump, capsys, "--price-file", str(prices))
    assert only_file["pools"] == {"general": 1.0 + 2.0, "memory": 3.0}
    both = cost(dump, capsys, "--price-file", str(prices), "--price", "memory=4")
    assert both["pools"] == {"general": 1.0 + 2.0, "memory": 1.0}
    assert both["namespaces"] == {"shop": 4.0}


def test_nodes_without_a_price_are_left_out_and_counted(
    dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = cost(dump, capsys)
    assert (said["unit"], said["total"], said["unpriced"]) == ("price", 2.0, 2)
    rest = cost(dump, capsys, "--price", "*=4")
    assert (rest["total"], rest["unpriced"]) == (4.0, 0)


@pytest.mark.parametrize(
    "text",
    [
        "general: dear",
        "general: -1",
        "general: true",
        "general: .nan",
        "[1, 2]",
        "general: [1]",
        "{",
    ],
)
def test_a_price_file_that_is_none_is_refused_with_its_name(
    dump: Path, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(text)
    page = tmp_path / "page.html"
    done = headroom(capsys, "view", str(dump), "--html", str(page), "--price-file", str(prices))
    assert done.code == 2
    assert "prices.yaml" in done.err
    assert not page.exists()


def test_a_price_file_that_is_not_there_is_told(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = headroom(capsys, "view", str(dump), "--price-file", str(tmp_path / "nowhere.yaml"))
    assert done.code == 2
    assert "nowhere.yaml" in done.err
