"""Whoever waits for something on a node that passes by itself, and what wakes them.

In the middle of a handover room counts twice, and what an owner has returned is free for a moment.
Who is refused for that only goes on as soon as the node has changed. A subject waits for one change
and is then decided anew; if it has to wait again, it says so again.
"""

from __future__ import annotations

from headroom.core.subjects import Subject
from headroom.engine.agenda import Agenda


class Settling:
    """Subjects that wait for a change, by node."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._waiting: dict[str, dict[Subject, None]] = {}

    def wait(self, node: str, subject: Subject) -> None:
        """Look at a subject when something changes on a node."""
        self._waiting.setdefault(node, {})[subject] = None

    def awaited(self, node: str) -> bool:
        """Whether somebody waits for what passes on a node."""
        return node in self._waiting

    def changed(self, node: str) -> None:
        """A pod on a node, or on its way there, is not as it was; or a handover there is over."""
        for subject in self._waiting.pop(node, ()) if node else ():
            self._agenda.touch(subject)
