"""An Order as a headroom whose slots are Tickets, and the template of these tickets.

    daemonSet   one slot on every eligible node; otherwise `replicas` slots
    OneTime     no schedule: the number is kept
    Scheduled   a window at each tick, as long as the duration of a ticket; outside it, no tickets
    Recurring   windows that never close: each tick is a new start, and with the refresh policy
                Always, tickets are renewed then

With the refresh policy Never, an unclaimed ticket of a OneTime or Recurring order is a permanent
buffer: its duration does not end it. Both API generations are read; if their fields disagree, the
Order reports this and creates no tickets.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import msgspec

from headroom.core.derived_names import label_value, short_hash
from headroom.core.headrooms.headrooms import ALWAYS, NEVER, ON_CLAIM, Headroom, Slot, Window
from headroom.core.headrooms.slot_values import SlotObjects, Tenure
from headroom.core.objects import Parent
from headroom.core.selector_validation import label_key_refusal, label_value_refusal
from headroom.core.sizes.kind import Size
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.replicas import Replicas
from headroom.dialects.korder import kinds
from headroom.dialects.korder.specs import TicketSpec, ticket_spec
from headroom.dialects.korder.statuses import order_status_of
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.metadata import life_of, parent_of
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import Decoder, Reader, spelling
from headroom.wire.schema.promises import MOST_SLOTS

ONE_TIME, SCHEDULED, RECURRING = "OneTime", "Scheduled", "Recurring"
# Longer than the time between two ticks of any cron expression that fires twice.
EVER = timedelta(days=36_525)
_POLICIES = (ON_CLAIM, ALWAYS, NEVER)


class _TemplateMetadata(JsonObject):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


_read_metadata = Reader(_TemplateMetadata)
_sorted = msgspec.json.Encoder(order="sorted")


def _headroom(order: kinds.KorderObject) -> Headroom:
    metadata = order.metadata or kinds.KorderMetadata()
    findings = Findings()
    parent = parent_of(order, kinds.ORDERS)
    spec = findings.fields(order.spec, "spec")
    strategy = spec.part("strategy")
    template = spec.part("template")
    if not template.has("spec"):
        template.add("spec", "is missing: it describes the tickets")
    ticket = ticket_spec(template.part("spec"), parent.namespace)
    refill = _refill(spec, strategy)
    schedule = _schedule(strategy, ticket)
    objects = _slot_objects(template, parent, ticket.tenure)
    endless = all(window.duration == EVER for window in schedule)
    return Headroom(
        parent=parent,
        slot=Slot(template=ticket.template),
        size=_size(spec),
        refill=refill,
        schedule=schedule,
        paused=bool(spec.flag("paused")),
        closes=_closes(ticket),
        slot_objects=replace(objects, permanent=refill == NEVER and endless),
        finalizer=kinds.ORDER_FINALIZER,
        finalizers=tuple(metadata.finalizers or ()),
        **life_of(metadata),
        status=order_status_of(spelling(order.status)),
        problems=findings.problems,
    )


def _size(spec: Fields) -> Size:
    count = spec.number("replicas", 0, MOST_SLOTS)
    if spec.flag("daemonSet"):
        return PerNode(1)
    return Replicas(1 if count is None else count)


def _refill(spec: Fields, strategy: Fields) -> str:
    name = "refreshPolicy"
    latest, first = _policy(spec, name), _policy(strategy, name)
    if latest is not None and first is not None and latest != first:
        told = f"{latest} disagrees with {strategy.at(name)} {first}; write only one of them"
        spec.add(name, told)
    return latest or first or ON_CLAIM


def _policy(given: Fields, name: str) -> str | None:
    policy = given.text(name) or None
    if policy is not None and policy not in _POLICIES:
        given.add(name, f"{policy!r} is not one of {', '.join(_POLICIES)}")
        return None
    return policy


def _schedule(strategy: Fields, ticket: TicketSpec) -> tuple[Window, ...]:
    kind = strategy.text("type") or ONE_TIME
    cron = strategy.text("schedule") or ""
    if kind == ONE_TIME:
        if cron:
            strategy.add("schedule", "a OneTime order takes none; use Scheduled or Recurring")
        return ()
    if kind not in (SCHEDULED, RECURRING):
        known = ", ".join((ONE_TIME, SCHEDULED, RECURRING))
        strategy.add("type", f"{kind!r} is not one of {known}")
        return ()
    if not cron:
        strategy.add("schedule", f"is missing: a {kind} order says when")
        return ()
    lasts = ticket.duration if kind == SCHEDULED else EVER
    return (Window(cron, lasts, ticket.time_zone, source=strategy.at("schedule")),)


def _closes(ticket: TicketSpec) -> datetime | None:
    """When tickets with a fixed start would end before they begin."""
    return ticket.starts + ticket.duration if ticket.starts is not None else None


def _slot_objects(template: Fields, order: Parent, tenure: Tenure) -> SlotObjects:
    metadata = template.read(_read_metadata, "metadata") or _TemplateMetadata()
    given = {"labels": metadata.labels or {}, "annotations": metadata.annotations or {}}
    for key, value in given["labels"].items():
        refusal = label_key_refusal(key) or label_value_refusal(value)
        if refusal is not None:
            template.add("metadata.labels", refusal)
    spec = spelling(template.raw("spec"))
    written = {"metadata": given, "spec": msgspec.json.decode(spec) if spec else {}}
    raw = _sorted.encode(written).decode()
    own = {kinds.ORDER_LABEL: label_value(order.name), kinds.ORDER_UID_LABEL: order.uid}
    labels = {**given["labels"], **own}
    return SlotObjects(kinds.API_VERSION, kinds.TICKETS.kind, raw, short_hash(raw), labels, tenure)


# Errors in the spec of an order are in `problems`.
decode_order = Decoder(kinds.ORDERS.kind, kinds.KorderObject, _headroom)
