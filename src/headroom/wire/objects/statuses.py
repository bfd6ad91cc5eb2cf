"""The statuses of our own kinds, from JSON and to it, and the parts that dialects use as well."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.headrooms.headrooms import MOST_SHAPES, AutoStatus, HeadroomStatus, Shape
from headroom.core.headrooms.shapes import POD
from headroom.core.holds import HoldStatus, OwnerUse
from headroom.core.objects import Condition
from headroom.core.promise.achieved import MissedShare
from headroom.core.promise.report import Price, PromiseStatus
from headroom.wire.kinds import Json
from headroom.wire.objects.codec import (
    AMOUNTS,
    DURATION,
    NUMBER,
    SHARE,
    TEXT,
    TEXTS,
    TIME,
    Codec,
    Part,
)

MOST_GROWTH = 1e15  # pods; no workloads of a cluster have more together
_DIGITS = 6

CONDITION = Codec(
    Condition,
    type=TEXT.always,
    status=TEXT.always,
    reason=TEXT.always,
    message=TEXT.always,
    generation=NUMBER.named("observedGeneration").always,
    since=TIME.named("lastTransitionTime"),
)
CONDITIONS = CONDITION.parts()
OWNERS = Codec(OwnerUse, namespace=TEXT.always, name=TEXT.always, uid=TEXT.always).parts()

HOLD_STATUS = Codec(
    HoldStatus,
    phase=TEXT,
    node=TEXT.named("nodeName"),
    allocatable=AMOUNTS,
    allocated=AMOUNTS,
    owners=OWNERS.named("currentOwners"),
    conditions=CONDITIONS,
    observed_generation=NUMBER,
)

_SHARE = Codec(MissedShare, pods=NUMBER.named("owners").always, misses=NUMBER.always)


def _share_json(share: MissedShare) -> Json:
    return {**_SHARE.write(share), "ratio": round(share.ratio, _DIGITS)}


_ACHIEVED = replace(_SHARE.part(MissedShare()), write=_share_json, told=True)
_PROMISE = Codec(
    PromiseStatus,
    ratio=SHARE.always,
    start_within=DURATION.always,
    last_hour=_ACHIEVED,
    last_day=_ACHIEVED,
    last_week=_ACHIEVED,
    lead_time=DURATION,
    size=Part(int, None),
    decided_by=TEXT,
    why=TEXT,
    next_nine=Codec(Price, ratio=SHARE.always, slots=NUMBER.always, idle=SHARE.always).part(),
    record=TEXT,
)
_GROWTH = Part(
    float,
    0,
    lambda pods: round(min(max(pods, 0.0), MOST_GROWTH) * POD),
    lambda thousandths: thousandths / POD,
)
_SHAPES = Codec(
    Shape,
    kind=TEXT.always,
    namespace=TEXT.always,
    name=TEXT.always,
    slots=NUMBER.always,
    growth=_GROWTH.always,
    why=TEXT.always,
).parts(MOST_SHAPES)

# The counts are there even when they are zero, for the columns.
HEADROOM_STATUS = Codec(
    HeadroomStatus,
    desired=NUMBER.always,
    held=NUMBER.always,
    pending=NUMBER.always,
    claimed=NUMBER.always,
    hits=NUMBER.always,
    misses=NUMBER.always,
    next_start=TIME,
    selector=TEXT,
    spent=TEXTS,
    promise=_PROMISE.part(),
    auto=Codec(AutoStatus, candidates=NUMBER.always, chosen=_SHAPES.always).part(),
    conditions=CONDITIONS,
    observed_generation=NUMBER,
)
