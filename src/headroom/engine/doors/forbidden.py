"""Handovers through the gate that the API server forbids: whose claim is to be taken back.

A right may be missing in one namespace, or somebody's admission policy says no. An owner that is
nominated and cannot go on keeps its room from ordinary pods but not from guardians, so none is made
meanwhile, in whatever namespace: a claim that cannot be finished must not stay. `takingback` has
the writes.
"""

from __future__ import annotations

from collections.abc import Callable

from headroom.core.actions import Action, DeletePod, Denied, Outcome, Ungate
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import Topic

FINISHING = (Work.DOOR1, Work.DOOR1_FINISH)


class Forbidden:
    """Owners at the gate whose handover has just been forbidden, with the words of the refusal."""

    def __init__(self) -> None:
        self._refused: dict[Key, str] = {}  # pods that could not be deleted or let through the gate
        self._owners: dict[str, str] = {}  # by uid
        self._undoing: dict[str, None] = {}  # nodes

    def settled(self, action: Action, outcome: Outcome) -> None:
        """Take note of a write that is part of a handover."""
        if isinstance(action, DeletePod | Ungate) and isinstance(outcome, Denied):
            self._refused[action.key] = outcome.message

    def ended(self, sequence: Sequence, guarding: Callable[[Key], Key | None]) -> None:
        """A sequence has ended: owners of whose handover something was forbidden go back.

        `guarding` gives the guardian that an owner's hold still has. What was forbidden and is
        nobody's own, a guardian that had to get out of the way, concerns all of them.
        """
        for subject in sequence.subjects:
            if subject.topic is Topic.NODE:
                self._undoing.pop(subject.identity, None)
        actions = [action for step in sequence.steps for action in step]
        written = [each for each in actions if isinstance(each, DeletePod | Ungate)]
        refused = {each.key: self._refused.pop(each.key, "") for each in written}
        if sequence.work not in FINISHING or not any(refused.values()):
            return
        owners = [each for each in written if isinstance(each, Ungate)]
        own = {each.uid: (each.key, guarding(each.key)) for each in owners}
        known = {key for keys in own.values() for key in keys}
        general = next((why for key, why in refused.items() if why and key not in known), "")
        for uid, keys in own.items():
            why = general or next((refused[key] for key in keys if key and refused.get(key)), "")
            if why:
                self._owners[uid] = why

    def undoes(self, node: str) -> bool:
        """Whether a claim on room of a node is being taken back."""
        return node in self._undoing

    def has(self, pod: Pod) -> bool:
        """Whether the claim of a pod is to be taken back."""
        return pod.uid in self._owners

    def take(self, pod: Pod) -> str:
        """Why a claim is to be taken back, once; empty if it is not."""
        return self._owners.pop(pod.uid, "")

    def undo(self, node: str) -> None:
        """A claim on room of that node is taken back from now on."""
        self._undoing[node] = None

    def forget(self, uid: str) -> None:
        """A pod is gone."""
        self._owners.pop(uid, None)
