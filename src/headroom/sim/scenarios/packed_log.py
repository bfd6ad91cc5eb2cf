"""A list of JSON objects that takes little memory: all but the latest are kept compressed.

The journal of a long run has millions of entries, and nobody reads them before the end. As dicts
they take hundreds of bytes each, in compressed blocks a tenth of that.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import msgspec

Entry = Mapping[str, Any]
Block = list[Entry]

BLOCK = 500
"""How many entries are compressed together."""

MOST_READ = 32
"""How many blocks are kept decompressed while the list is read."""


class PackedLog(Sequence[Entry]):
    """Entries in the order in which they were added; an entry is read as an equal dict."""

    def __init__(self, block: int = BLOCK) -> None:
        self._size = block
        self._blocks: list[bytes | Block] = []
        self._latest: Block = []
        self._read: dict[int, Block] = {}

    def append(self, entry: Entry) -> None:
        self._latest.append(entry)
        if len(self._latest) == self._size:
            self._blocks.append(_packed(self._latest))
            self._latest = []

    def clear(self) -> None:
        self._blocks.clear()
        self._latest.clear()
        self._read.clear()

    def __len__(self) -> int:
        return len(self._blocks) * self._size + len(self._latest)

    def __iter__(self) -> Iterator[Entry]:
        for number in range(len(self._blocks) + 1):
            yield from self._block(number)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Block: ...
    def __getitem__(self, index: int | slice) -> Entry | Block:
        places = range(len(self))[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        number, place = divmod(places, self._size)
        return self._block(number)[place]

    def _block(self, number: int) -> Block:
        if number == len(self._blocks):
            return self._latest
        found = self._read.get(number)
        if found is None:
            if len(self._read) >= MOST_READ:
                del self._read[next(iter(self._read))]
            found = self._read[number] = _unpacked(self._blocks[number])
        return found


def _packed(block: Block) -> bytes | Block:
    """The compressed block; text that is not valid Unicode cannot be encoded and stays as it is."""
    try:
        return zlib.compress(msgspec.json.encode(block), level=1)
    except UnicodeEncodeError:
        return block


def _unpacked(block: bytes | Block) -> Block:
    if isinstance(block, bytes):
        decoded: Block = msgspec.json.decode(zlib.decompress(block))
        return decoded
    return block
