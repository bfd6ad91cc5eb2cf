"""Archives that are the same, byte for byte, whenever their files are."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

CHART = Path(__file__).parent.parent.parent / "deploy/chart"


def tar_gz(files: Mapping[str, bytes], programs: frozenset[str] = frozenset()) -> bytes:
    """Return a compressed tar file without times and owners, in the order of the paths."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(files):
            entry = tarfile.TarInfo(path)
            entry.size = len(files[path])
            entry.mode = 0o755 if path in programs else 0o644
            archive.addfile(entry, io.BytesIO(files[path]))
    return gzip.compress(plain.getvalue(), mtime=0)


def chart() -> bytes:
    """Return the chart as `helm package` would, but for the times."""
    files = {
        f"headroom/{path.relative_to(CHART).as_posix()}": path.read_bytes()
        for path in CHART.rglob("*")
        if path.is_file()
    }
    # Helm wants to meet this one first, which the order of the paths gives it.
    return tar_gz(files)
