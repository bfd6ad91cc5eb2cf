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
from headroom.dialects.korder.patterns import parse_start, parse_zone
from headroom.dialects.korder.rules.tenure import TicketTenure
from headroom.dialects.korder.schema_rules import TOO_LARGE, above_limits
from headroom.wire.durations import parse_duration
from headroom.wire.objects.findings import Fields
from headroom.wire.objects.reader import spelling
from headroom.wire.objects.slots import template_in

DEFAULT_DURATION = timedelta(hours=24)
DEFAULT_TTL = 3600
_DEFAULT_REQUESTS = {"cpu": "100m", "memory": "128Mi"}
_MOST = 2**31 - 1
_POD_FIELDS = (
    "schedulerName",
    "nodeName",
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
)


@dataclass(frozen=True, slots=True)
class TicketSpec:
    """The decoded spec of a ticket; `time_zone` is that of its window."""

    template: PodTemplate
    duration: timedelta
    cleanup: timedelta | None
    starts: datetime | None = None
    time_zone: str = "UTC"

    @property
    def tenure(self) -> TicketTenure:
        """How long a ticket of this spec lasts, and how long its object stays after that."""
        return TicketTenure(self.duration, self.cleanup)


def ticket_spec(spec: Fields, namespace: str) -> TicketSpec:
    """Decode a spec and collect its errors."""
    window = spec.part("window")
    zone = window.text("timeZone") or "UTC"
    if spec.findings.parse(parse_zone, zone, window.at("timeZone")) is None:
        zone = "UTC"
    duration = _duration(spec, window)
    return TicketSpec(
        template=_template(spec, namespace),
        duration=duration,
        cleanup=_cleanup(spec.part("lifecycle")),
        starts=_starts(spec, window, zone),
        time_zone=zone,
    )


def labelled(template: PodTemplate, labels: Mapping[str, str]) -> PodTemplate:
    """The template with these labels for its guardian; its shape does not change."""
    metadata = msgspec.json.encode({"labels": dict(labels)}).decode()
    raw = f'{{"metadata":{metadata},{template.raw.removeprefix("{")}'
    return replace(template, pod=replace(template.pod, labels=labels), raw=raw)


def _duration(spec: Fields, window: Fields) -> timedelta:
    first, second = _lasting(spec), _lasting(window)
    if first is not None and second is not None and first != second:
        spec.add("duration", "disagrees with window.duration; write only one of them")
    return first or second or DEFAULT_DURATION


def _lasting(given: Fields) -> timedelta | None:
    duration = given.parse(parse_duration, "duration")
    if duration is not None and duration <= timedelta():
        given.add("duration", "must be longer than 0; without it, a ticket lasts 24h")
        return None
    return duration


def _starts(spec: Fields, window: Fields, zone: str) -> datetime | None:
    parse = partial(parse_start, zone=zone)
    first, second = spec.parse(parse, "startTime"), window.parse(parse, "startTime")
    if first is not None and second is not None and first != second:
        spec.add("startTime", "disagrees with window.startTime; write only one of them")
    return first or second


def _cleanup(lifecycle: Fields) -> timedelta | None:
    """How long after its end a ticket is deleted; None if it is kept."""
    policy = lifecycle.text("cleanupPolicy")
    seconds = lifecycle.number("ttlSecondsAfterFinished", 0, _MOST)
    if policy not in (None, "", "Delete", "Retain"):
        lifecycle.add("cleanupPolicy", f"{policy!r} is neither Delete nor Retain")
    if policy == "Retain":
        return None
    return timedelta(seconds=DEFAULT_TTL if seconds is None else seconds)


def _template(spec: Fields, namespace: str) -> PodTemplate:
    """The pod template of a guardian, shared by tickets with equal specs."""
    container = {"name": "guardian", "resources": _resources(spec)}
    return template_in(spec, {"containers": [container], **spec.present(_POD_FIELDS)}, namespace)


def _resources(spec: Fields) -> Raw | dict[str, object]:
    """The requests of the ticket; korder's default if there are none."""
    raw, resources = spec.raw("resources"), spec.part("resources")
    parts = (resources.raw("requests"), resources.raw("limits"))
    if all(spelling(part) in (b"", b"{}") for part in parts):
        return {"requests": _DEFAULT_REQUESTS}
    try:
        for name in above_limits(msgspec.json.decode(spelling(raw))):
            resources.add(f"requests.{name}", TOO_LARGE)
    except (AttributeError, TypeError, ValueError):
        pass  # The decoder of the template reports an invalid amount.
    return Raw(spelling(raw))
