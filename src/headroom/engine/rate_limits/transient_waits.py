"""Subjects that wait for a temporary state of a node to end, and what wakes them.

During a handover, room is counted twice, and the room that an owner has returned is free for a
moment. A subject that is refused only for that reason continues as soon as the node has changed. It
waits for one change and is then decided again; if it has to wait again, it registers again.
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
