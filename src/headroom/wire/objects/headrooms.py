"""Headrooms from their JSON: never an exception for what a person wrote, always a Problem.

As with holds, each field of the spec is read on its own and everything that is wrong is told at
once. `slots` reads the shape, `sizes` the size; whether a cron expression ever fires is asked
later, of somebody with a calendar (`core.windows.judged`).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from msgspec import Raw

from headroom.core.amounts import format_amount
from headroom.core.headrooms.headrooms import (
    ALWAYS,
    NEVER,
    NODE_CHUNK,
    ON_CLAIM,
    PREEMPT,
    WHEN_FREE,
    Headroom,
    Limits,
    Window,
)
from headroom.core.holds import LOCKED, PREEMPTIBLE
from headroom.wire.kinds import HEADROOMS
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.metadata import parent_of
from headroom.wire.objects.owners import owner_rules
from headroom.wire.objects.podjson import CustomObject, Metadata
from headroom.wire.objects.reader import Decoder, Reader, spelling
from headroom.wire.objects.sizes import MOST_SLOTS, size_of
from headroom.wire.objects.slots import slot_of
from headroom.wire.objects.statuses import HEADROOM_STATUS
from headroom.wire.times import bounded

_MOST = 2**31 - 1
_read_windows = Reader(list[Raw])


def _headroom(headroom: CustomObject) -> Headroom:
    metadata = headroom.metadata or Metadata()
    findings, remarks = Findings(), Findings()
    namespace = metadata.namespace or ""
    spec = findings.fields(headroom.spec, "spec")
    size = size_of(spec)
    mode = spec.word("mode", (LOCKED, PREEMPTIBLE))
    read = Headroom(
        parent=parent_of(headroom, HEADROOMS),
        slot=slot_of(spec, namespace, may_ask_nothing=size.in_parts),
        size=size,
        limits=_limits(spec.part("limits")),
        mode=mode,
        owners=owner_rules(spec.raw("owners"), findings, remarks),
        owners_given=spec.has("owners"),
        refill=spec.word("refill", (ON_CLAIM, ALWAYS, NEVER)),
        reclaim=spec.word("reclaim", (WHEN_FREE, PREEMPT)),
        slot_lifetime=spec.duration("slotLifetime"),
        schedule=_schedule(spec),
        paused=bool(spec.flag("paused")),
        created=bounded(metadata.creation_timestamp),
        deleted=bounded(metadata.deletion_timestamp),
        generation=metadata.generation or 1,
        version=metadata.resource_version or "",
        status=HEADROOM_STATUS.read(spelling(headroom.status)),
    )
    _check_owners(read, findings)
    _check_together(read, findings)
    return replace(read, problems=findings.problems, remarks=remarks.problems)


def _check_owners(headroom: Headroom, findings: Findings) -> None:
    """Owners are needed where slots are Locked, unless they follow from what is chosen."""
    if headroom.mode == PREEMPTIBLE and headroom.owners_given:
        findings.add(
            "spec.owners",
            "have no effect: pods of higher priority take Preemptible slots; remove them",
        )
    if headroom.mode == LOCKED and not headroom.owners_given and headroom.slot.auto is None:
        findings.add("spec.owners", "is missing: no pod could claim a slot; add at least one rule")


def _check_auto(headroom: Headroom, findings: Findings) -> None:
    """Shapes that are chosen go with sizes that are one number for all of them, or of each."""
    if headroom.slot.auto is None:
        return
    if not headroom.size.with_auto:
        told = "auto goes with size.replicas, size.percent and size.adaptive only"
        findings.add("spec.slot.auto", f"{told}: other sizes have one shape, which template says")
    if headroom.slot.chunk == NODE_CHUNK:
        findings.add("spec.slot.chunk", "Node holds slots of one shape, and auto has several")
    if headroom.refill == NEVER:
        findings.add("spec.refill", "Never goes with template and from only; auto refills")


def _limits(limits: Fields) -> Limits:
    return Limits(
        resources=tuple(sorted((limits.amounts("resources") or {}).items())),
        slots=limits.number("slots", 1, _MOST),
        nodes=limits.number("nodes", 1, _MOST),
        pods=limits.number("pods", 1, _MOST),
    )


def _schedule(spec: Fields) -> tuple[Window, ...]:
    raws = spec.read(_read_windows, "schedule")
    if raws is not None and not raws:
        spec.add("schedule", "is empty: leave it out to hold slots always")
    read = []
    for index, raw in enumerate(raws or ()):
        window = spec.findings.fields(raw, spec.at(f"schedule[{index}]"))
        if window.given:
            read.append(_window(window))
        elif not spelling(raw):
            spec.findings.add(window.path, "is empty; say when it starts and how long it lasts")
    return tuple(read)


def _window(window: Fields) -> Window:
    for name in ("start", "duration"):
        if not window.has(name):
            window.add(name, "is missing")
    duration = window.duration("duration")
    if duration == timedelta():
        window.add("duration", "must be longer than 0: otherwise nothing is held")
    zone = window.text("timeZone")
    return Window(
        start=window.text("start") or "",
        duration=duration or timedelta(),
        time_zone="UTC" if zone is None else zone,
        lead_time=window.duration("leadTime") or timedelta(),
        replicas=window.number("replicas", 0, MOST_SLOTS),
    )


def _check_together(headroom: Headroom, findings: Findings) -> None:
    """Take down what is wrong only between the parts, each of which is sound."""
    if findings.problems:
        return
    _check_auto(headroom, findings)
    shaped = headroom.slot.source is not None or headroom.slot.auto is not None
    if headroom.size.of_workload and not shaped:
        findings.add("spec.size.percent", "is of a workload's replicas: name it in slot.from")
    if headroom.slot.chunk == NODE_CHUNK and not headroom.size.with_node_chunks:
        findings.add("spec.slot.chunk", "Node goes with size.replicas and size.percent only")
    if headroom.reclaim == PREEMPT and not (headroom.size.by_node and headroom.mode == LOCKED):
        findings.add("spec.reclaim", "Preempt goes with size.perNode and mode Locked only")
    if headroom.size.learns and headroom.mode != LOCKED:
        findings.add("spec.size", "adaptive learns from owners, and mode Preemptible has none")
    if not headroom.size.with_window_replicas:
        for index, window in enumerate(headroom.schedule):
            if window.replicas is not None:
                message = "goes with size.replicas and size.adaptive only; leave it out"
                findings.add(f"spec.schedule[{index}].replicas", message)
    template = headroom.slot.template
    if template is None or headroom.size.in_parts:
        return
    requests = template.pod.requests
    for name, most in headroom.limits.resources:
        if most < requests[name]:
            told = f"{format_amount(name, most)} is smaller than one slot, which asks for"
            findings.add(
                f"spec.limits.resources.{name}", f"{told} {format_amount(name, requests[name])}"
            )


# What is wrong with the spec of a headroom is in `problems`.
decode_headroom = Decoder(HEADROOMS.kind, CustomObject, _headroom)
headroom_from = decode_headroom.plain
