"""From a fresh cluster to a claim and back to a fresh cluster, by Helm and by `headroom install`.

`pytest --update-golden` (`make transcripts`) writes docs/operating/transcripts.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testbed.binaries import BinariesUnavailable
from testbed.controlplane import ControlPlane
from testbed.helm import Helm
from testbed.recipes import DEFAULT_MINOR, KUBERNETES, chosen_minor
from tests.e2e.installing import until
from tests.e2e.transcripts import (
    ROOT,
    Transcript,
    by_headroom,
    by_headroom_for_some,
    by_helm,
    by_helm_for_some,
    inventory,
    page,
)

pytestmark = [pytest.mark.e2e, pytest.mark.every_version]
PAGE = ROOT / "docs/operating/transcripts.md"
STORIES: dict[str, Callable[[Transcript, Path], None]] = {
    "With Helm": by_helm,
    "With headroom install": by_headroom,
    "With Helm, for some namespaces": by_helm_for_some,
    "With headroom install, for some namespaces": by_headroom_for_some,
}


@pytest.fixture(scope="module")
def plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A fresh control plane; each story leaves it as it was."""
    with ControlPlane.start(tmp_path_factory.mktemp("fresh"), kwok=True) as plane:
        plane.wait_nodes_ready(2, plane.add_fake_nodes(2, cpu="16"))
        yield plane


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    """The transcripts so far."""
    return {}


@pytest.fixture
def helm(plane: ControlPlane, tmp_path: Path) -> Helm:
    try:
        return Helm(tmp_path / "helm", plane.kubeconfig)
    except BinariesUnavailable as trouble:
        print(f"\nTESTS OF THE CHART SKIPPED: {trouble}", file=sys.stderr)
        pytest.skip(str(trouble))


@pytest.mark.parametrize("title", STORIES)
def test_an_installation_serves_a_claim_and_leaves_nothing_behind(
    plane: ControlPlane,
    helm: Helm,
    told: dict[str, str],
    title: str,
    tmp_path: Path,
    pytestconfig: pytest.Config,
) -> None:
    (tmp_path / "work").mkdir()
    story = Transcript(plane, tmp_path / "work", helm)
    before = inventory(plane)
    STORIES[title](story, tmp_path / "log")
    until("nothing is left", lambda: not inventory(plane) - before, seconds=300)
    told[title] = story.text()
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert "forbidden" not in log
    if chosen_minor() != DEFAULT_MINOR:
        return
    if pytestconfig.getoption("--update-golden") and len(told) == len(STORIES):
        PAGE.write_text(page(told, KUBERNETES[DEFAULT_MINOR].version), encoding="utf-8")
    if len(told) == len(STORIES):
        typed = [line for text in told.values() for line in commands(text)]
        assert commands(PAGE.read_text(encoding="utf-8")) == typed, "run: make transcripts"


def commands(text: str) -> list[str]:
    return re.findall(r"^\$ .*$", text, re.MULTILINE)
