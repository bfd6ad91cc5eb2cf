"""The size of a CapacityBuffer: how many chunks it wants and may have, and what its status says.

The larger of a fixed number and a share of a workload, then no more than the limits allow, then no
more than the namespace's quotas let in (`resource_quotas`). Reasons are the words that the two
implementations of the API use. If they differ, ours are Karpenter's. `Provisioning` is True only
when every chunk stands on a ready node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from headroom.core.conditions import Words, conditions_of
from headroom.core.findings.unserved import Unserved
from headroom.core.headrooms import headrooms
from headroom.core.headrooms.readiness import DEGRADING, SlotTally
from headroom.core.headrooms.size_limits import Note, operators_limit
from headroom.core.headrooms.slot_batch import Indexes, within
from headroom.core.headrooms.wanted_slots import SOURCE, SizeView, WantedSlots, as_hold
from headroom.core.holds import PodTemplate
from headroom.core.objects import Condition
from headroom.core.resources import Resources
from headroom.core.sizes.kind import Size

ACTIVE = "buffer.x-k8s.io/active-capacity"

READY = "ReadyForProvisioning"
LIMITED = "LimitedByQuotas"
PROVISIONING = "Provisioning"

RESOLVED = "Resolved"
RESOLUTION_FAILED = "ResolutionFailed"
NO_TEMPLATE = "PodTemplateNotFound"
NO_WORKLOAD = "ScalableRefNotFound"
BY_QUOTA = "ResourceQuotasAllocated"
NOT_READY = "NotReadyForProvisioning"
EMPTY_BUFFER = "BufferEmpty"
FITS = "FitsExistingCapacity"
NEEDS_MORE = "RequiresNewCapacity"


@dataclass(frozen=True, slots=True)
class BufferSize(Size):
    """The three ways to say how much; None is not said.

    `limits` keeps amounts of zero, which a Resources would lose.
    """

    shares_quotas: ClassVar[bool] = True
    whole: ClassVar[str] = PROVISIONING

    replicas: int | None = None
    percentage: int | None = None
    limits: tuple[tuple[str, int], ...] | None = None

    def wish(
        self, headroom: headrooms.Headroom, template: PodTemplate, view: SizeView, now: datetime
    ) -> WantedSlots:
        wanted = chunks(self, template.pod.requests, headrooms.replicas_of(view.workload))
        if isinstance(wanted, Note):
            return WantedSlots(notes=(replace(wanted, reason="InvalidSpec"),))
        count = wanted
        notes: tuple[Note, ...] = ()
        if view.room is not None and view.room.count < count:
            count = view.room.count
            notes = tuple(Note(LIMITED, name) for name in view.room.limited_by)
        if count > view.most:
            count, notes = view.most, (Note(LIMITED, operators_limit(view.most)),)
        chosen, later = within(Indexes(count), view.standing, view.batch_limits)
        slots = tuple(as_hold(headroom, template, name, view) for name in chosen)
        return WantedSlots(slots, wanted, notes, later=later)

    def quota_share(self, one: Resources, replicas: int | None) -> int | None:
        wanted = chunks(self, one, replicas)
        return wanted if isinstance(wanted, int) else None

    def words(self, headroom: headrooms.Headroom, workload: headrooms.Workload | None) -> str:
        return "as many chunks as the buffer's replicas, percentage and limits come to"

    def status(
        self, headroom: headrooms.Headroom, wished: WantedSlots, tally: SlotTally, now: datetime
    ) -> headrooms.HeadroomStatus:
        """A buffer's status says less, and in its own words."""
        source = headroom.slot.source
        named = source.name if source is not None and source.kind == headrooms.POD_TEMPLATE else ""
        trouble = _unsized(wished, bool(named))
        words = buffer_words(wished, tally.held, trouble)
        before, generation = headroom.status.conditions, headroom.generation
        return headrooms.HeadroomStatus(
            desired=wished.count,
            conditions=conditions_of(words, before, generation, now),
            observed_generation=generation,
            template="" if trouble else named,
            template_generation=0 if trouble else tally.template_generation,
        )

    def unserved(self, told: Mapping[str, Condition]) -> Unserved | None:
        ready, limited, held = (told.get(each) for each in (READY, LIMITED, PROVISIONING))
        if ready is None:
            return None
        if ready.status == "False":
            return Unserved(ready.reason, ready.message)
        if limited is not None and limited.status == "True":
            return Unserved(limited.reason, limited.message)
        if held is not None and held.reason == NEEDS_MORE:
            return Unserved(held.reason, held.message, short=True)
        return None


def is_ours(strategy: str) -> bool:
    """Whether a buffer of this strategy is to be served; others are not even answered."""
    return strategy in ("", ACTIVE)


def chunks(size: BufferSize, chunk: Resources, workload: int | None) -> int | Note:
    """Work out how many chunks a buffer wants; a note says why it cannot be served.

    `workload` is how many replicas the workload has, None where the buffer names none or they are
    not known.
    """
    base = _base(size, workload)
    if size.limits is None:
        return _unsaid(size) if base is None else base
    fits = [limit // chunk[name] for name, limit in size.limits if chunk[name] > 0]
    if not fits:
        named = ", ".join(name for name, _ in size.limits) or "nothing"
        asked = ", ".join(sorted(chunk)) or "nothing"
        words = f"spec.limits names {named}, but a chunk requests {asked}: they bound nothing"
        return Note(RESOLUTION_FAILED, words)
    most = max(0, min(fits))
    return most if base is None else min(base, most)


def _base(size: BufferSize, workload: int | None) -> int | None:
    """The larger of number and share; a share of a workload that is not known says nothing."""
    wishes = [] if size.replicas is None else [max(0, size.replicas)]
    if size.percentage is not None and workload is not None:
        wishes.append(max(0, -(-size.percentage * workload // 100)))
    return max(wishes, default=None)


def _unsaid(size: BufferSize) -> Note:
    if size.percentage is None:
        words = "spec has neither replicas, percentage nor limits: it says no size"
    else:
        words = "spec.percentage needs a scalableRef whose replicas are known"
    return Note(RESOLUTION_FAILED, words)


def buffer_words(wished: WantedSlots, held: int, trouble: Note | None) -> tuple[Words, ...]:
    """The three conditions of a buffer of which so many chunks are on ready nodes."""
    if trouble is not None:
        why = "nothing is held while the buffer is not ready"
        return (
            (READY, "False", trouble.reason, trouble.message),
            (LIMITED, "False", BY_QUOTA, ""),
            (PROVISIONING, "False", NOT_READY, why),
        )
    ready = (READY, "True", RESOLVED, "shape and size are known")
    return ready, _limited(wished), _provisioning(wished.count, held)


def _limited(wished: WantedSlots) -> Words:
    if wished.count >= wished.asked:
        return LIMITED, "False", BY_QUOTA, ""
    quotas = ", ".join(note.message for note in wished.notes if note.reason == LIMITED)
    message = f"{wished.asked} chunks are wanted, {wished.count} allowed by quota {quotas}"
    return LIMITED, "True", BY_QUOTA, message


def _provisioning(allowed: int, held: int) -> Words:
    if allowed == 0:
        return PROVISIONING, "False", EMPTY_BUFFER, "no chunk is wanted or allowed"
    if held >= allowed:
        return PROVISIONING, "True", FITS, f"all {allowed} chunks stand on ready nodes"
    message = f"{allowed - held} of {allowed} chunks wait for a node"
    return PROVISIONING, "False", NEEDS_MORE, message


def _unsized(wished: WantedSlots, by_template: bool) -> Note | None:
    for note in wished.notes:
        if note.reason == "WorkloadMissing":
            reason = NO_TEMPLATE if by_template else NO_WORKLOAD
            return Note(reason, note.message.removeprefix(SOURCE))
        if note.reason in DEGRADING:
            return Note(RESOLUTION_FAILED, note.message.removeprefix(SOURCE))
    return None
