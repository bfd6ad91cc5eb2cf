"""Handovers through the gate that the API server forbids: whose claim is to be taken back.

A right may be missing in one namespace, or somebody's admission policy says no; by default that is
answered like an invalid object. An owner that is nominated and cannot go on keeps its room from
ordinary pods but not from guardians, so none is made meanwhile, in whatever namespace: a claim that
cannot be finished must not stay. `rollback` has the writes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from headroom.core.actions import Action, DeletePod, Denied, Invalid, Outcome, Ungate
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work

FINISHING = (Work.DOOR1, Work.DOOR1_FINISH)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a handover was forbidden, and from when on a guardian that was made again keeps all."""

    why: str
    kept_from: datetime | None = None


class Forbidden:
    """Owners at the gate whose handover has just been forbidden, with the words of the refusal."""

    def __init__(self) -> None:
        self._refused: dict[Key, str] = {}  # pods that could not be deleted or let through the gate
        self._owners: dict[str, Refusal] = {}  # by uid
        self._undoing: dict[str, None] = {}  # nodes

    def settled(self, action: Action, outcome: Outcome) -> None:
        """Take note of a write that is part of a handover."""
        if isinstance(action, DeletePod | Ungate) and isinstance(outcome, Denied | Invalid):
            self._refused[action.key] = outcome.message

    def ended(self, sequence: Sequence, owners: Mapping[str, Collection[Key]]) -> None:
        """A sequence has ended: owners of whose handover something was forbidden go back.

        `owners` are those that are there, by uid, each with its own key and that of the guardian
        that its hold still has. What was forbidden and is nobody's own, a guardian that had to get
        out of the way, concerns all of them.
        """
        refused = {key: self._refused.pop(key, "") for key in _written(sequence)}
        if sequence.work not in FINISHING or not any(refused.values()):
            return
        known = {key for keys in owners.values() for key in keys}
        general = next((why for key, why in refused.items() if why and key not in known), "")
        for uid, keys in owners.items():
            why = general or next((refused[key] for key in keys if refused.get(key)), "")
            if why:
                self._owners[uid] = Refusal(why)

    def has(self, pod: Pod) -> bool:
        """Whether the claim of a pod is to be taken back."""
        return pod.uid in self._owners

    def of(self, pod: Pod) -> Refusal:
        """Why the claim of a pod is to be taken back."""
        return self._owners[pod.uid]

    def kept(self, pod: Pod, since: datetime) -> None:
        """A guardian is made again for a pod's claim, and keeps all of it from then on."""
        self._owners[pod.uid] = Refusal(self._owners[pod.uid].why, since)

    def forget(self, uid: str) -> None:
        """A pod is gone, or its claim is."""
        self._owners.pop(uid, None)

    def undo(self, node: str) -> None:
        """A claim on room of that node is taken back from now on."""
        self._undoing[node] = None

    def undone(self, node: str) -> None:
        """It has been, or could not be."""
        self._undoing.pop(node, None)

    def undoes(self, node: str) -> bool:
        """Whether a claim on room of a node is being taken back."""
        return node in self._undoing


def _written(sequence: Sequence) -> list[Key]:
    return [each.key for each in sequence.actions if isinstance(each, DeletePod | Ungate)]
