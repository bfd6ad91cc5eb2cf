"""Make text of others safe for a terminal: control characters are shown as codes.

Users write names, annotations and messages of objects. A terminal executes control characters and
escape sequences in them, and bidirectional or invisible characters make a text look like another.
`Escaped` wraps stdout and stderr, so that nothing is printed without it; `quoted` keeps JSON valid;
`one_line` is for a cell of a table, where a line break would look like a row.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

# C0 (without tab and newline), DEL and C1; then characters that are invisible or change the order
# of letters: soft hyphen, marks, zero-width characters, line and paragraph separators, embeddings,
# overrides, isolates, byte order mark, annotations, tags; unpaired surrogates.
_HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
_BREAKS = re.compile("[\t\n]")
_PLAIN = bytes((0x09, 0x0A, *range(0x20, 0x7F)))  # of ASCII, all that is not hostile


def escaped(text: str) -> str:
    """The text with codes such as \\x1b and \\u202e in place of characters that control a terminal.

    The codes are those of YAML in double quotes, so that such a value can be read back.
    """
    return text if is_harmless(text) else _HOSTILE.sub(_code, text)


def one_line(text: str) -> str:
    """The same on one line: tabs and line breaks are codes too."""
    return _BREAKS.sub(_code, escaped(text))


def quoted(text: str) -> str:
    """JSON with \\u escapes: it is read back as the same value."""
    return text if is_harmless(text) else _HOSTILE.sub(_json_code, text)


def is_harmless(text: str) -> bool:
    """Whether nothing in a text has to be escaped; long ASCII text is not worth an expression."""
    if not text.isascii():
        return _HOSTILE.search(text) is None
    return text.isprintable() or not text.encode().translate(None, _PLAIN)


def _code(found: re.Match[str]) -> str:
    return {"\n": "\\n", "\t": "\\t"}.get(found[0]) or _number(ord(found[0]))


def _number(point: int) -> str:
    if point > 0xFFFF:
        return f"\\U{point:08x}"
    return f"\\u{point:04x}" if point > 0xFF else f"\\x{point:02x}"


def _json_code(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


class Escaped(io.TextIOBase):
    """A stream that escapes what is written to it; `plain` is the wrapped stream."""

    def __init__(self, plain: TextIO) -> None:
        self.plain = plain

    def write(self, text: str) -> int:
        self.plain.write(escaped(text))
        return len(text)

    def writelines(self, lines: Iterable[Any]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self.plain.flush()

    def isatty(self) -> bool:
        return self.plain.isatty()

    def fileno(self) -> int:
        return self.plain.fileno()

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """Leave the wrapped stream open: it is not ours."""

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute there
        return self.plain.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]  # a plain attribute there
        return self.plain.errors


@contextmanager
def escaped_streams() -> Iterator[None]:
    """Escape everything that is written to stdout or stderr."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, Escaped(plain_stream(each))) for each in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def plain_stream(stream: TextIO) -> TextIO:
    """The wrapped stream: for rich, which draws with escape sequences and gets escaped text."""
    return stream.plain if isinstance(stream, Escaped) else stream
