"""One store for all frozen records of what must be remembered between two decisions."""

from __future__ import annotations

from typing import TypeVar

_K = TypeVar("_K")
_M = TypeVar("_M")


class Memories(dict[_K, _M]):
    """Records by name. Of what has no record nothing is known, and such a record is not kept."""

    def __init__(self, nothing: _M) -> None:
        super().__init__()
        self._nothing = nothing

    def __missing__(self, name: _K) -> _M:
        return self._nothing

    def __setitem__(self, name: _K, memory: _M) -> None:
        if memory == self._nothing:
            self.pop(name, None)
        else:
            super().__setitem__(name, memory)
