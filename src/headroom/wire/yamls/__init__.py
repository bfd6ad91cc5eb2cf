"""YAML and JSON as kubectl reads and writes them: a file in, objects with their lines out.

`documents` takes a file apart, `loader` and `dumper` know kubectl's rules, `lines` where a field
stands. These are the names that others need.
"""

from __future__ import annotations

from headroom.wire.yamls.documents import Document, load
from headroom.wire.yamls.dumper import dump, dump_all
from headroom.wire.yamls.lines import ManifestError

__all__ = ["Document", "ManifestError", "dump", "dump_all", "load"]
