"""The error of this package: an object from a cluster or a file that cannot be decoded.

It names the object and the path inside it. Readers of a stream catch it per object and go on: one
odd object must never hide the others.
"""

from __future__ import annotations

import msgspec

from headroom.errors import HeadroomError

UNREADABLE_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What reading a text as JSON can end with: nonsense, not UTF-8, nested too deeply."""


class DecodeError(HeadroomError):
    """An object that cannot be read: `subject` is which, `path` where in it, `problem` what."""

    exit_code = 2

    def __init__(self, subject: str, path: str, problem: str) -> None:
        super().__init__(": ".join(part for part in (subject, path, problem) if part))
        self.subject = subject
        self.path = path
        self.problem = problem


class Unreadable(DecodeError):
    """An object that broke our reading of it: nobody foresaw what it says, which is a bug."""
