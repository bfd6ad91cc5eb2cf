"""The root of every error a person may see: what happened and where, then what to do about it.

Only the edge (adapters, commands) raises these; a "no" inside is a value. The exit code follows
CONTRACT.md: 2 misuse or a bad file, 3 the cluster cannot be reached, 4 a bug.
"""

from __future__ import annotations


class HeadroomError(Exception):
    """Trouble that is told to a person: `message` is what and where, `hint` what to do."""

    exit_code = 4

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message
