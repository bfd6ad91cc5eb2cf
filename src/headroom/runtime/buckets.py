"""One token bucket for each of many names, with bounded memory.

A full bucket is the same as an unused one, so it is dropped. Only buckets that were used within the
time that a bucket takes to fill are kept, and never more than `most`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

from headroom.runtime.lanes import Bucket


@dataclass(slots=True)
class Buckets:
    """A burst for each name, then a rate per second."""

    at_once: float
    per_second: float
    most: int
    _buckets: OrderedDict[Hashable, Bucket] = field(default_factory=OrderedDict)

    def take(self, name: Hashable, now: float) -> bool:
        """Take a token of a name if there is one (`now` in monotonic seconds)."""
        bucket = self._buckets.pop(name, None) or Bucket(self.per_second, self.at_once)
        taken = bucket.take(now)
        self._buckets[name] = bucket  # The least recently used is the first.
        while len(self._buckets) > self.most or next(iter(self._buckets.values())).full(now):
            self._buckets.popitem(last=False)
        return taken

    def __len__(self) -> int:
        return len(self._buckets)
