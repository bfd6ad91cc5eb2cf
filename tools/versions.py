"""Write `docs/reference/versions.md` from the table of supported versions.

`python -m tools.versions`; a test fails while the page and the code differ.
"""

from __future__ import annotations

import sys
from pathlib import Path

from headroom.kube.versions import FEATURES, NEWEST, OLDEST, SUPPORTED, Feature, Version
from testbed.recipes import DEFAULT_MINOR, KUBERNETES
from tools import tried

PAGE = Path(__file__).parent.parent / "docs/reference/versions.md"

_HEAD = """\
# Versions of Kubernetes

Written by `python -m tools.versions`.

Supported: Kubernetes {oldest} to {newest}. `headroom version --cluster` says what your cluster has;
the operator logs the same at its start (`features`), and a version that is not supported
(`unsupported_kubernetes`). Such a version may work, but is not tested.

## Features by version

The operator checks what the API server serves; the rest follows from its version. *off* means that
the version does not have the feature, or only if you enable it.

| feature | {heads} | checked in the cluster | without it |
|---|{rule}|---|---|
"""

_TAIL = """
## What is tested

| Kubernetes | patch version | by |
|---|---|---|
"""

_RUNS = """
What passed, and how many tests were skipped because the version lacks a feature (recorded
by `python -m tools.tried VERSION PYTEST-ARGUMENTS`, which keeps runs without a failure only):

| Kubernetes | tests | passed | skipped | on |
|---|---|---|---|---|
"""

_LAST = """
The Custom Resource Definitions and admission policies are the same for all versions: their rules
fit the cost limits of the oldest.

## When not to rely on this

The version is that of the API server. kube-scheduler and kubelets may be older; `kept-nominations`
is kube-scheduler's.
"""


def page() -> str:
    """Return the page."""
    heads = " | ".join(str(version) for version in SUPPORTED)
    rule = "|".join("---" for _ in SUPPORTED)
    text = _HEAD.format(oldest=OLDEST, newest=NEWEST, heads=heads, rule=rule)
    text += "".join(_row(feature) for feature in FEATURES) + _TAIL
    text += "".join(_tested(minor) for minor in KUBERNETES)
    text += _RUNS + "".join(_run(each) for each in tried.entries())
    return text + _LAST


def _row(feature: Feature) -> str:
    cells = " | ".join(_cell(feature, version) for version in SUPPORTED)
    asked = "yes" if feature.served else "no"
    return f"| `{feature.name}`: {feature.means} | {cells} | {asked} | {feature.without} |\n"


def _cell(feature: Feature, version: Version) -> str:
    return "yes" if version >= feature.since else "off"


def _tested(minor: str) -> str:
    ways = ["`make matrix`"]
    if minor == DEFAULT_MINOR:
        ways.insert(0, "`make test`, all of it")
    if minor == str(OLDEST):
        ways.insert(0, "`make test`, a short pass (`make test-oldest`)")
    return f"| {minor} | {KUBERNETES[minor].version} | {', '.join(ways)} |\n"


def _run(run: tried.Tried) -> str:
    return f"| {run.kubernetes} | `{run.tests}` | {run.passed} | {run.skipped} | {run.day} |\n"


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
