"""Marks for tests that need something of newer Kubernetes than the oldest that is supported."""

from __future__ import annotations

import pytest

from testbed.recipes import DEFAULT_MINOR, chosen_minor, is_at_least


def since(minor: str) -> pytest.MarkDecorator:
    """Leave a test on a real control plane out where that is older than this version."""
    here = chosen_minor()
    return pytest.mark.skipif(
        not is_at_least(minor), reason=f"needs Kubernetes {minor}, and this is {here}"
    )


def usual_version() -> pytest.MarkDecorator:
    """Leave a test out on other versions: it compares with what is written down of one."""
    return pytest.mark.skipif(
        chosen_minor() != DEFAULT_MINOR, reason=f"compares with Kubernetes {DEFAULT_MINOR}"
    )
