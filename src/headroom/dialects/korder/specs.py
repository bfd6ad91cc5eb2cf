"""Decode the spec of a Ticket, alone or as the template of an Order.

Both API generations are read: duration and start are at the top level or under `window`. The shape
of the guardian is encoded as a pod template, as for the slots of a Headroom; problems are reported
with the paths of the original object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

import msgspec
from msgspec import Raw

from headroom.core.holds import PodTemplate
from headroom.core.tickets.values import Tenure
from headroom.dialects.korder.patterns import parse_start, parse_zone
from headroom.dialects.korder.rules import TOO_LARGE, above_limits
from headroom.wire.durations import parse_duration
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import ABSENT, Reader, spelling
from headroom.wire.objects.templates import template_of

DEFAULT_DURATION = timedelta(hours=24)
DEFAULT_TTL = 3600
_DEFAULT_REQUESTS = {"cpu": "100m", "memory": "128Mi"}
_MOST = 2**31 - 1
_WRITTEN = "spec.template"


class _TicketJson(JsonObject):
    lifecycle: Raw = ABSENT
    duration: Raw = ABSENT
    start_time: Raw = ABSENT
    window: Raw = ABSENT
    scheduler_name: Raw = ABSENT
    resources: Raw = ABSENT
    node_name: Raw = ABSENT
    node_selector: Raw = ABSENT
    affinity: Raw = ABSENT
    tolerations: Raw = ABSENT
    topology_spread_constraints: Raw = ABSENT


class _Lifecycle(JsonObject):
    ttl_seconds_after_finished: Raw = ABSENT
    cleanup_policy: Raw = ABSENT


class _TicketWindow(JsonObject):
    start_time: Raw = ABSENT
    time_zone: Raw = ABSENT
    duration: Raw = ABSENT


class _TicketResources(JsonObject):
    requests: Raw = ABSENT
    limits: Raw = ABSENT


_read_spec = Reader(_TicketJson)
_read_lifecycle = Reader(_Lifecycle)
_read_window = Reader(_TicketWindow)
_read_resources = Reader(_TicketResources)


@dataclass(frozen=True, slots=True)
class TicketSpec:
    """The decoded spec of a ticket; `time_zone` is that of its window."""

    template: PodTemplate
    duration: timedelta
    cleanup: timedelta | None
    starts: datetime | None = None
    time_zone: str = "UTC"

    @property
    def tenure(self) -> Tenure:
        """How long a ticket of this spec lasts, and how long its object stays after that."""
        return Tenure(self.duration, self.cleanup)


@dataclass(frozen=True, slots=True)
class SpecPlace:
    """Where a spec is: in which namespace, and at which path of its object."""

    namespace: str
    path: str = "spec"


def ticket_spec(raw: Raw, place: SpecPlace, findings: Findings) -> TicketSpec:
    """Decode a spec and collect its errors."""
    spec = findings.read(_read_spec, raw, place.path) or _TicketJson()
    path = f"{place.path}.window"
    window = findings.read(_read_window, spec.window, path) or _TicketWindow()
    zone = findings.text(window.time_zone, f"{path}.timeZone") or "UTC"
    if findings.parse(parse_zone, zone, f"{path}.timeZone") is None:
        zone = "UTC"
    duration = _duration(spec, window, place.path, findings)
    return TicketSpec(
        template=_template(spec, place, findings),
        duration=duration,
        cleanup=_cleanup(spec.lifecycle, f"{place.path}.lifecycle", findings),
        starts=_starts(spec, window, zone, place.path, findings),
        time_zone=zone,
    )


def labelled(template: PodTemplate, labels: Mapping[str, str]) -> PodTemplate:
    """The template with these labels for its guardian; its shape does not change."""
    metadata = msgspec.json.encode({"labels": dict(labels)}).decode()
    raw = f'{{"metadata":{metadata},{template.raw.removeprefix("{")}'
    return replace(template, pod=replace(template.pod, labels=labels), raw=raw)


def _duration(spec: _TicketJson, window: _TicketWindow, path: str, findings: Findings) -> timedelta:
    first = _lasting(spec.duration, f"{path}.duration", findings)
    second = _lasting(window.duration, f"{path}.window.duration", findings)
    if first is not None and second is not None and first != second:
        message = "disagrees with window.duration; write only one of them"
        findings.add(f"{path}.duration", message)
    return first or second or DEFAULT_DURATION


def _lasting(raw: Raw, path: str, findings: Findings) -> timedelta | None:
    duration = findings.parse(parse_duration, findings.text(raw, path) or None, path)
    if duration is not None and duration <= timedelta():
        findings.add(path, "must be longer than 0; without it, a ticket lasts 24h")
        return None
    return duration


def _starts(
    spec: _TicketJson, window: _TicketWindow, zone: str, path: str, findings: Findings
) -> datetime | None:
    parse = partial(parse_start, zone=zone)
    first, second = (
        findings.parse(parse, findings.text(raw, place) or None, place)
        for raw, place in (
            (spec.start_time, f"{path}.startTime"),
            (window.start_time, f"{path}.window.startTime"),
        )
    )
    if first is not None and second is not None and first != second:
        findings.add(f"{path}.startTime", "disagrees with window.startTime; write only one of them")
    return first or second


def _cleanup(raw: Raw, path: str, findings: Findings) -> timedelta | None:
    """How long after its end a ticket is deleted; None if it is kept."""
    lifecycle = findings.read(_read_lifecycle, raw, path) or _Lifecycle()
    policy = findings.text(lifecycle.cleanup_policy, f"{path}.cleanupPolicy")
    seconds = findings.number(
        lifecycle.ttl_seconds_after_finished,
        f"{path}.ttlSecondsAfterFinished",
        0,
        _MOST,
    )
    if policy not in (None, "", "Delete", "Retain"):
        findings.add(f"{path}.cleanupPolicy", f"{policy!r} is neither Delete nor Retain")
    if policy == "Retain":
        return None
    return timedelta(seconds=DEFAULT_TTL if seconds is None else seconds)


def _template(spec: _TicketJson, place: SpecPlace, findings: Findings) -> PodTemplate:
    """The pod template of a guardian, shared by tickets with equal specs."""
    parts = {
        "schedulerName": spec.scheduler_name,
        "nodeName": spec.node_name,
        "nodeSelector": spec.node_selector,
        "affinity": spec.affinity,
        "tolerations": spec.tolerations,
        "topologySpreadConstraints": spec.topology_spread_constraints,
    }
    given = {name: raw for name, raw in parts.items() if spelling(raw)}
    container = {"name": "guardian", "resources": _resources(spec.resources, place, findings)}
    written = {"spec": {"containers": [container], **given}}
    found = Findings()
    template = template_of(Raw(msgspec.json.encode(written)), place.namespace, found)
    for problem in found.problems:
        findings.add(_at(problem.path, place.path), problem.message)
    return template


def _resources(raw: Raw, place: SpecPlace, findings: Findings) -> Raw | dict[str, object]:
    """The requests of the ticket; korder's default if there are none."""
    path = f"{place.path}.resources"
    resources = findings.read(_read_resources, raw, path) or _TicketResources()
    given = any(
        spelling(part) not in (b"", b"{}") for part in (resources.requests, resources.limits)
    )
    if not given:
        return {"requests": _DEFAULT_REQUESTS}
    try:
        for name in above_limits(msgspec.json.decode(spelling(raw))):
            findings.add(f"{path}.requests.{name}", TOO_LARGE)
    except (AttributeError, TypeError, ValueError):
        pass  # The decoder of the template reports an invalid amount.
    return Raw(spelling(raw))


def _at(path: str, spec: str) -> str:
    """The path in the original spec of a problem in the encoded template."""
    for written, given in (
        (f"{_WRITTEN}.spec.containers[0].resources", f"{spec}.resources"),
        (f"{_WRITTEN}.spec.containers", f"{spec}.resources"),
        (f"{_WRITTEN}.spec", spec),
    ):
        if path.startswith(written):
            return given + path.removeprefix(written)
    return spec
