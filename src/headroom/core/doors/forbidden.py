"""Handovers through the gate that the API server forbids: whose claim is to be taken back.

A right may be missing in one namespace, or somebody's admission policy says no; by default that is
answered like an invalid object. An owner that is nominated and cannot go on keeps its room from
ordinary pods but not from guardians, so none is made meanwhile, in whatever namespace: a claim that
cannot be finished must not stay. `claim_decision` has the writes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from headroom.core.actions import DeletePod, Ungate
from headroom.core.objects import Key
from headroom.core.plan import Sequence, Work

FINISHING = (Work.DOOR1, Work.DOOR1_FINISH)


def written(sequence: Sequence) -> tuple[DeletePod | Ungate, ...]:
    """The writes of a handover without which it must not stay as it is."""
    actions = (action for step in sequence.steps for action in step)
    return tuple(each for each in actions if isinstance(each, DeletePod | Ungate))


def forbidden(refused: Mapping[Key, str], owners: Mapping[str, Collection[Key]]) -> dict[str, str]:
    """Whose handover was forbidden, by uid, and why.

    `refused` are pods that could not be written, `owners` those that are there, by uid, each with
    its own key and that of the guardian that its hold still has. What was forbidden and is nobody's
    own, a guardian that had to get out of the way, concerns all of them.
    """
    known = {key for keys in owners.values() for key in keys}
    general = next((why for key, why in refused.items() if key not in known), "")
    found = {
        uid: general or next((refused[key] for key in keys if key in refused), "")
        for uid, keys in owners.items()
    }
    return {uid: why for uid, why in found.items() if why}
