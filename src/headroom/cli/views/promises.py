"""Text about a headroom's promise, from its status."""

from __future__ import annotations

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.promise.achieved import MissedShare
from headroom.core.promise.announced import Learnt
from headroom.core.promise.report import PROMISE_KEPT


def learnt_size(headroom: Headroom) -> Learnt | None:
    """The size that the operator has learnt, from the headroom's status."""
    promise = headroom.status.promise
    if not headroom.size.learns or promise is None or promise.size is None:
        return None
    return Learnt(promise.size)


def promise_told(headroom: Headroom) -> list[str]:
    """The state of the promise, what determined the size, and the cost of the next nine."""
    promise = headroom.status.promise
    if promise is None:
        return []
    within = f"{promise.start_within.total_seconds():g} s"
    told = [
        f"{100 * promise.ratio:g} % of owners within {within}; "
        f"last hour {_share(promise.last_hour)}, day {_share(promise.last_day)}, "
        f"week {_share(promise.last_week)}"
    ]
    kept = next((each for each in headroom.status.conditions if each.type == PROMISE_KEPT), None)
    if kept is not None:
        word = {"True": "kept", "False": "not kept"}.get(kept.status, "not known yet")
        told.append(f"{word} ({kept.reason}): {kept.message}")
    if promise.size is not None:
        told.append(f"needs {promise.size} slots now ({promise.decided_by}): {promise.why}")
    if promise.lead_time:
        told.append(f"a slot takes {promise.lead_time.total_seconds():g} s to be held")
    price = promise.next_nine
    if price is not None:
        told.append(
            f"the next nine ({100 * price.ratio:g} %) would need {price.slots} slots now and leave "
            f"{price.idle:g} unused on average"
        )
    return told


def _share(share: MissedShare) -> str:
    if not share.pods:
        return "nobody"
    return f"{share.pods - share.misses} of {share.pods} ({100 * share.ratio:.2f} %)"
