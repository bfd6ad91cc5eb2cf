"""Handovers through the gate that the API server forbids: whose claim is to be taken back.

A right may be missing in one namespace, or somebody's admission policy says no; by default that is
answered like an invalid object. An owner that is nominated and cannot go on keeps its room from
ordinary pods but not from guardians, so none is made meanwhile, in whatever namespace: a claim that
cannot be finished must not stay. `claim_decision` has the writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from headroom.core.actions import DeletePod, Ungate
from headroom.core.objects import Key
from headroom.core.plan import Sequence, Work

FINISHING = (Work.DOOR1, Work.DOOR1_FINISH)


def written(sequence: Sequence) -> tuple[DeletePod | Ungate, ...]:
    """The writes of a handover without which it must not stay as it is."""
    actions = chain.from_iterable(sequence.steps)
    return tuple([each for each in actions if isinstance(each, DeletePod | Ungate)])


def forbidden(
    sequence: Sequence, denied: Mapping[str, str], guardians: Mapping[str, Key | None]
) -> dict[str, str]:
    """Whose handover was forbidden, by uid, and why.

    `denied` says by uid which pods could not be written, and why. `guardians` are those that the
    holds of the owners still have, by the uid of each owner that is there. What was forbidden and
    is nobody's own, a guardian that had to get out of the way, concerns all of them.
    """
    if sequence.work not in FINISHING:
        return {}
    writes = written(sequence)
    refused = {each.key: denied[each.uid] for each in writes if each.uid in denied}
    owners = {
        each.uid: (each.key, guardians[each.uid])
        for each in writes
        if isinstance(each, Ungate) and each.uid in guardians
    }
    known = {key for keys in owners.values() for key in keys}
    general = next((why for key, why in refused.items() if key not in known), "")
    found = {
        uid: general or next((refused[key] for key in keys if key in refused), "")
        for uid, keys in owners.items()
    }
    return {uid: why for uid, why in found.items() if why}
