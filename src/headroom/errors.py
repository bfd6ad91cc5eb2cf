"""The base class of all errors for users: what happened and where, then what to do.

Only adapters and commands raise these; a refusal inside is a value. The exit code is stable: 2 for
misuse or a bad file, 3 if the cluster cannot be reached, 4 for a bug.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath

LONGEST_TEXT = 200


class HeadroomError(Exception):
    """An error for a user: `message` says what and where, `hint` what to do."""

    exit_code = 4

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


def described(error: BaseException) -> str:
    """An exception in one short line without control characters."""
    text = str(error)[:LONGEST_TEXT]
    plain = "".join(each if each.isprintable() else " " for each in text)
    return f"{type(error).__name__}: {plain}" if plain else type(error).__name__


def place_of(error: BaseException) -> str:
    """Where an exception was raised: the file and line, for developers."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
