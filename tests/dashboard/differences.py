"""A difference of two pictures, applied as a page does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.dashboard.document import MAPS, Document


def applied(old: Mapping[str, Any], change: Mapping[str, Any]) -> Document:
    """Apply a difference to a snapshot, as a page does."""
    new: Document = {**old, "at": change["at"], "revision": change["revision"]}
    for name, value in change["set"].items():
        new[name] = {**(old.get(name) or {}), **value} if name in MAPS else value
    for name, keys in change["gone"].items():
        lost = set(keys)
        new[name] = {key: row for key, row in new[name].items() if key not in lost}
    return new
