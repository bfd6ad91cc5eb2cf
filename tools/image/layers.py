"""Layers: tar files that are the same, byte for byte, whenever their files are.

No times, no owners, a fixed order, two modes. They are not compressed: what a compressor writes
differs from one version of it to the next.
"""

from __future__ import annotations

import io
import stat
import tarfile
from dataclasses import dataclass, field

_DIRECTORY, _FILE, _PROGRAM = 0o755, 0o644, 0o755


@dataclass
class Layer:
    """Files and links by path; directories above them come by themselves."""

    entries: dict[str, tarfile.TarInfo] = field(default_factory=dict)
    bodies: dict[str, bytes] = field(default_factory=dict)

    def file(self, path: str, body: bytes, *, program: bool = False) -> None:
        """Put a file, in place of one that is there."""
        entry = self._entry(path, tarfile.REGTYPE, _PROGRAM if program else _FILE)
        entry.size = len(body)
        self.bodies[entry.name] = body

    def link(self, path: str, target: str) -> None:
        entry = self._entry(path, tarfile.SYMTYPE, 0o777)
        entry.linkname = target

    def directory(self, path: str, mode: int = _DIRECTORY) -> None:
        self._entry(path, tarfile.DIRTYPE, mode)

    def add(self, entry: tarfile.TarInfo, body: bytes) -> None:
        """Put an entry of another archive, without what would differ from day to day."""
        path = entry.name.removeprefix("./").rstrip("/")
        if not path:
            return
        if entry.isdir():
            self.directory(path)
        elif entry.issym():
            self.link(path, entry.linkname)
        elif entry.islnk():
            self.file(path, self.bodies[entry.linkname.removeprefix("./")])
        elif entry.isreg():
            self.file(path, body, program=bool(entry.mode & stat.S_IXUSR))
        else:
            raise ValueError(f"{path} is neither a file nor a directory nor a link")

    def tar(self) -> bytes:
        """Return the layer as a tar file."""
        for path in list(self.entries):
            self._make_parents(path)
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path in sorted(self.entries):
                archive.addfile(self.entries[path], io.BytesIO(self.bodies.get(path, b"")))
        return out.getvalue()

    def _entry(self, path: str, kind: bytes, mode: int) -> tarfile.TarInfo:
        entry = tarfile.TarInfo(path)
        entry.type, entry.mode, entry.mtime = kind, mode, 0
        self.bodies.pop(path, None)
        self.entries[path] = entry
        return entry

    def _make_parents(self, path: str) -> None:
        above = path.rpartition("/")[0]
        while above:
            if above not in self.entries:
                self.directory(above)
            above = above.rpartition("/")[0]
