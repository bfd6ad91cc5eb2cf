"""A pace for each of many names, and memory only of those that used theirs lately.

A bucket that has filled up again is as one that was never used, so it is forgotten: what is
remembered is what happened within the time that a bucket takes to fill, and never more than `most`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

from headroom.runtime.lanes import Bucket


@dataclass(slots=True)
class Buckets:
    """So many at once for each name, then so many a second."""

    at_once: float
    per_second: float
    most: int
    _buckets: OrderedDict[Hashable, Bucket] = field(default_factory=OrderedDict)

    def take(self, name: Hashable, now: float) -> bool:
        """Take a token of a name if there is one (`now` in seconds that only grow)."""
        bucket = self._buckets.pop(name, None) or Bucket(self.per_second, self.at_once)
        taken = bucket.take(now)
        self._buckets[name] = bucket  # The one that was used longest ago is the first.
        while len(self._buckets) > self.most or next(iter(self._buckets.values())).full(now):
            self._buckets.popitem(last=False)
        return taken

    def __len__(self) -> int:
        return len(self._buckets)
