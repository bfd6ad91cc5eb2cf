"""Marks for tests that need something that not every supported version of Kubernetes has.

A test names the feature, as `headroom version --cluster` does. The table of `kube/versions.py`
says which versions have it; `tests/e2e/test_versions.py` compares that table with the cluster.
"""

from __future__ import annotations

import pytest

from headroom.kube.versions import FEATURES, read_version
from testbed.recipes import DEFAULT_MINOR, chosen_minor


def has(feature: str) -> bool:
    """Say whether the chosen version of Kubernetes has a feature, by its name."""
    (found,) = (each for each in FEATURES if each.name == feature)
    version = read_version(chosen_minor())
    return version is not None and version >= found.since


def needs(feature: str) -> pytest.MarkDecorator:
    """Leave a test on a real control plane out where that has not the feature."""
    return pytest.mark.skipif(not has(feature), reason=_reason(feature))


def _reason(feature: str) -> str:
    return f"needs {feature}, which Kubernetes {chosen_minor()} does not have"


def skip_without(feature: str) -> None:
    """Leave the test that runs out where the real control plane has not the feature."""
    if not has(feature):
        pytest.skip(_reason(feature))


def usual_version() -> pytest.MarkDecorator:
    """Leave a test out on other versions: it compares with what is written down of one."""
    return pytest.mark.skipif(
        chosen_minor() != DEFAULT_MINOR, reason=f"compares with Kubernetes {DEFAULT_MINOR}"
    )
