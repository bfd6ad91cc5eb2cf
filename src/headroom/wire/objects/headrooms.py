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
from headroom.wire.amounts import read_amounts
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import HEADROOMS
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.metadata import parent_of
from headroom.wire.objects.owners import owner_rules
from headroom.wire.objects.podjson import CustomObject, JsonObject, Metadata
from headroom.wire.objects.reader import ABSENT, Decoder, Reader, spelling
from headroom.wire.objects.sizes import MOST_SLOTS, size_of
from headroom.wire.objects.slots import slot_of
from headroom.wire.objects.statuses import HEADROOM_STATUS
from headroom.wire.times import bounded

_MOST = 2**31 - 1


class _HeadroomSpec(JsonObject):
    slot: Raw = ABSENT
    size: Raw = ABSENT
    limits: Raw = ABSENT
    mode: Raw = ABSENT
    owners: Raw = ABSENT
    refill: Raw = ABSENT
    reclaim: Raw = ABSENT
    slot_lifetime: Raw = ABSENT
    schedule: Raw = ABSENT
    paused: Raw = ABSENT


class _Limits(JsonObject):
    slots: Raw = ABSENT
    nodes: Raw = ABSENT
    pods: Raw = ABSENT
    resources: Raw = ABSENT


class _WindowSpec(JsonObject):
    start: Raw = ABSENT
    duration: Raw = ABSENT
    time_zone: Raw = ABSENT
    lead_time: Raw = ABSENT
    replicas: Raw = ABSENT


_read_spec = Reader(_HeadroomSpec)
_read_limits = Reader(_Limits)
_read_windows = Reader(list[Raw])
_read_window = Reader(_WindowSpec)


def _headroom(headroom: CustomObject) -> Headroom:
    metadata = headroom.metadata or Metadata()
    findings, remarks = Findings(), Findings()
    namespace = metadata.namespace or ""
    spec = findings.read(_read_spec, headroom.spec, "spec") or _HeadroomSpec()
    size = size_of(spec.size, findings)
    mode = findings.word(spec.mode, "spec.mode", (LOCKED, PREEMPTIBLE))
    read = Headroom(
        parent=parent_of(headroom, HEADROOMS),
        slot=slot_of(spec.slot, namespace, findings, may_ask_nothing=size.in_parts),
        size=size,
        limits=_limits(spec.limits, findings),
        mode=mode,
        owners=owner_rules(spec.owners, findings, remarks),
        owners_given=bool(spelling(spec.owners)),
        refill=findings.word(spec.refill, "spec.refill", (ON_CLAIM, ALWAYS, NEVER)),
        reclaim=findings.word(spec.reclaim, "spec.reclaim", (WHEN_FREE, PREEMPT)),
        slot_lifetime=findings.duration(spec.slot_lifetime, "spec.slotLifetime"),
        schedule=_schedule(spec.schedule, findings),
        paused=bool(findings.flag(spec.paused, "spec.paused")),
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


def _limits(raw: Raw, findings: Findings) -> Limits:
    path = "spec.limits"
    limits = findings.read(_read_limits, raw, path) or _Limits()
    try:
        resources = read_amounts(spelling(limits.resources), f"{path}.resources")
    except DecodeError as error:
        findings.note(error)
        resources = {}
    return Limits(
        slots=findings.number(limits.slots, f"{path}.slots", 1, _MOST),
        nodes=findings.number(limits.nodes, f"{path}.nodes", 1, _MOST),
        pods=findings.number(limits.pods, f"{path}.pods", 1, _MOST),
        resources=tuple(sorted(resources.items())),
    )


def _schedule(raw: Raw, findings: Findings) -> tuple[Window, ...]:
    windows = findings.read(_read_windows, raw, "spec.schedule")
    if windows is not None and not windows:
        findings.add("spec.schedule", "is empty: leave it out to hold slots always")
    read = []
    for index, each in enumerate(windows or ()):
        path = f"spec.schedule[{index}]"
        window = findings.read(_read_window, each, path)
        if window is not None:
            read.append(_window(window, path, findings))
        elif not spelling(each):
            findings.add(path, "is empty; say when it starts and how long it lasts")
    return tuple(read)


def _window(window: _WindowSpec, path: str, findings: Findings) -> Window:
    for name, raw in (("start", window.start), ("duration", window.duration)):
        if not spelling(raw):
            findings.add(f"{path}.{name}", "is missing")
    duration = findings.duration(window.duration, f"{path}.duration")
    if duration == timedelta():
        findings.add(f"{path}.duration", "must be longer than 0: otherwise nothing is held")
    zone = findings.text(window.time_zone, f"{path}.timeZone")
    return Window(
        start=findings.text(window.start, f"{path}.start") or "",
        duration=duration or timedelta(),
        time_zone="UTC" if zone is None else zone,
        lead_time=findings.duration(window.lead_time, f"{path}.leadTime") or timedelta(),
        replicas=findings.number(window.replicas, f"{path}.replicas", 0, MOST_SLOTS),
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
