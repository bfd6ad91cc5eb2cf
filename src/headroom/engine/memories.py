"""Frozen records of what is remembered between two decisions, by whom they are about."""

from __future__ import annotations

from typing import TypeVar

_M = TypeVar("_M")


class Memories(dict[str, _M]):
    """One kind of records; of whom there is no record, `nothing` is known."""

    def __init__(self, nothing: _M) -> None:
        super().__init__()
        self.nothing = nothing

    def __missing__(self, name: str) -> _M:
        return self.nothing

    def put(self, name: str, memory: _M) -> None:
        """Replace a record."""
        if memory == self.nothing:
            self.pop(name, None)
        else:
            self[name] = memory
