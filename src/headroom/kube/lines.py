"""Cut a stream of chunks into lines, whatever their length, without copying twice."""

from __future__ import annotations

from headroom.kube.errors import Uncertain

LONGEST_LINE = 64 * 2**20  # Far above what etcd can store: beyond it something else is talking.


class LineSplitter:
    """Keeps the incomplete line between two chunks; it is dropped at the end of the stream."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add a chunk and return the lines that it completes, without empty ones."""
        pieces = chunk.split(b"\n")
        if len(pieces) == 1:
            self._keep(chunk)
            return []
        self._parts.append(pieces[0])
        pieces[0] = b"".join(self._parts)
        rest = pieces.pop()
        self._parts = []
        self._size = 0
        if rest:
            self._keep(rest)
        return list(filter(None, pieces))

    def _keep(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._longest:
            raise Uncertain(f"a line of the watch is longer than {self._longest} bytes")
