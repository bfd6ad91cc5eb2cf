"""React to a guardian that the API server refuses: which objects wait, and for how long."""

from __future__ import annotations

from datetime import datetime

from headroom.core.actions import CreateGuardian, Denied, Gone, Invalid, Outcome, Taken
from headroom.core.objects import Key
from headroom.engine.hold_controller import HoldController


def guardian_refused(
    keeper: HoldController, action: CreateGuardian, outcome: Outcome, now: datetime
) -> None:
    """Take note of a guardian that was not made.

    What the API server refuses by a rule pauses all of that parent; a name that is taken, or no
    answer at all, concerns this one.
    """
    hold, why = action.hold, getattr(outcome, "message", "")
    if not keeper.keeps(hold):  # It was deleted meanwhile.
        return
    if isinstance(outcome, Taken):
        stranger = Key(hold.guardian_namespace, action.name)
        why = f"pod {stranger} has the guardian's name; it is made when that pod is gone"
    keeper.refused(hold, why)
    if isinstance(outcome, Denied | Invalid | Gone) and not action.bound:
        keeper.pace.refused(hold, _for_all(why, action.name), now)
    else:
        keeper.pace.slowed(hold)
        keeper.rest(hold, now)


def _for_all(why: str, name: str) -> str:
    """A refusal in words that are true of every hold that waits because of it.

    The API server names the pod. That one is of a single hold, and another one at each try.
    """
    for pods in (f'pods "{name}"', f'Pod "{name}"'):
        why = why.replace(pods, "a guardian of the same shape")
    return why
