"""Marks for tests that need something of newer Kubernetes than the oldest that is supported."""

from __future__ import annotations

import pytest

from testbed.recipes import chosen_minor, is_at_least


def since(minor: str) -> pytest.MarkDecorator:
    """Leave a test on a real control plane out where that is older than this version."""
    here = chosen_minor()
    return pytest.mark.skipif(
        not is_at_least(minor), reason=f"needs Kubernetes {minor}, and this is {here}"
    )
