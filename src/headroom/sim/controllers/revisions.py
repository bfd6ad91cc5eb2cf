"""Helpers of controllers with templates: the hash of a template, and a backoff."""

from __future__ import annotations

import hashlib
import json

from headroom.sim.api.store import SUFFIX_ALPHABET
from headroom.sim.api.values import Json
from headroom.sim.loop import DIGITS


def template_hash(template: Json) -> str:
    """A short hash of a pod template; equal templates have equal hashes."""
    text = json.dumps(template, sort_keys=True, separators=(",", ":"))
    digest = hashlib.blake2b(text.encode(), digest_size=10).digest()
    return "".join(SUFFIX_ALPHABET[byte % len(SUFFIX_ALPHABET)] for byte in digest)


class Backoff:
    """Delays that double from `first` to `longest`, and are reset after twice the longest."""

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        self._entries: dict[str, tuple[float, float]] = {}

    def left(self, key: str, now: float) -> float:
        """The remaining time to wait; zero if there is none."""
        since, pause = self._entries.get(key, (now, 0.0))
        return max(0.0, round(since + pause - now, DIGITS))

    def next(self, key: str, now: float) -> None:
        """Record one more attempt."""
        since, pause = self._entries.get(key, (now, 0.0))
        forgotten = now - since > 2 * self._longest
        longer = self._first if forgotten or not pause else min(self._longest, 2 * pause)
        self._entries[key] = (now, longer)
