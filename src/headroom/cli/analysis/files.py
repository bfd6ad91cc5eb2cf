"""Files that `recommend` and `compare` write."""

from __future__ import annotations

from pathlib import Path

from headroom.cli.errors import Unwritable
from headroom.core.replay.study import Sizing, Study


def write_file(path: Path, text: str) -> None:
    """Write a file; raise Unwritable if that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as trouble:
        words = trouble.strerror or str(trouble)
        raise Unwritable(f"{path} cannot be written: {words}", "name another file") from trouble


def write_series(path: Path, study: Study) -> None:
    """Write the size at each change, in seconds of the trace, with the training part first."""
    outcomes = (study.trained, study.rows[Sizing.ADAPTIVE].outcome)
    lines = ["second,slots"]
    last = -1
    for outcome in outcomes:
        for second, slots in zip(*outcome.sizes, strict=True):
            if slots != last:
                lines.append(f"{second:.12g},{slots}")
                last = slots
    write_file(path, "\n".join([*lines, ""]))
