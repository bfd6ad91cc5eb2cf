"""A bounded history of snapshots of a run, evenly spread."""

from __future__ import annotations

from headroom.dashboard.document import Document, difference

MOST = 240


class Frames:
    """Snapshots by virtual seconds since the start; if there are too many, every second is dropped.

    `due` says whether the next snapshot would be kept, so that none is built in vain. `apart` is
    how long a state has to last to be kept.
    """

    def __init__(self, most: int = MOST, apart: float = 0.0) -> None:
        self._most = max(2, most)
        self._kept: list[tuple[float, Document]] = []
        self._apart = apart

    def due(self, elapsed: float) -> bool:
        return not self._kept or elapsed - self._kept[-1][0] >= self._apart

    def add(self, elapsed: float, document: Document) -> None:
        """Add a snapshot; it replaces one of the same time."""
        kept = self._kept
        if kept and kept[-1][0] == elapsed:
            kept.pop()
        kept.append((elapsed, document))
        if len(kept) > self._most:
            self._kept = kept[:-1:2] + kept[-1:]
            self._apart = max(self._apart * 2, (elapsed - kept[0][0]) / self._most)

    def at(self, elapsed: float) -> Document | None:
        """The last snapshot at or before a time; the first one for earlier times."""
        found = None
        for moment, document in self._kept:
            if found is not None and moment > elapsed:
                break
            found = document
        return found

    @property
    def end(self) -> float:
        """The time of the last snapshot."""
        return self._kept[-1][0] if self._kept else 0.0

    def changes(self) -> list[Document]:
        """The first snapshot and then differences, each with its time: for a page in a file."""
        found: list[Document] = []
        before: Document = {}
        for moment, document in self._kept:
            change = difference(before, document) if found else None
            part = {"change": change} if found else {"whole": document}
            found.append({"elapsed": moment, "at": document.get("at"), **part})
            before = document
        return found
