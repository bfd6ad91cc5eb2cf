"""A Ticket as a hold: one slot for a limited time, for the pod that asks for it by annotation.

A ticket belongs to an Order by its controller ownerReference. A label alone, which any user may
write, only lets it match requests for that order. Tickets that korder itself created are read too:
their name says which slot they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from headroom.core.derived_names import hashed, label_value
from headroom.core.headrooms.slot_values import Membership
from headroom.core.holds import Hold, OwnerRule
from headroom.core.names import SHAPE_ANNOTATION, SLOT_ANNOTATION
from headroom.core.objects import Parent
from headroom.dialects.korder import kinds
from headroom.dialects.korder.rules.requests import Asks
from headroom.dialects.korder.specs import labelled, ticket_spec
from headroom.dialects.korder.statuses import ticket_status_of
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.metadata import (
    KEPT_ANNOTATIONS,
    AnnotationReader,
    labels_of,
    life_of,
    owners_of,
    parent_of,
)
from headroom.wire.objects.reader import Decoder, spelling

_annotations = AnnotationReader((*KEPT_ANNOTATIONS, kinds.PREFIX))


def guardian_of(ticket: str) -> str:
    """The name of a ticket's guardian."""
    return hashed(f"{kinds.GUARDIAN_PREFIX}{ticket}")


def _hold(ticket: kinds.KorderObject) -> Hold:
    metadata = ticket.metadata or kinds.KorderMetadata()
    findings = Findings()
    parent = parent_of(ticket, kinds.TICKETS)
    labels, annotations = labels_of(metadata), _annotations(metadata)
    spec = ticket_spec(findings.fields(ticket.spec, "spec"), parent.namespace)
    template = labelled(spec.template, _guardian_labels(parent, labels))
    member = _membership(metadata, parent, labels, annotations)
    return Hold(
        parent=parent,
        template=template,
        owners=(OwnerRule(asks=_asks(parent, member, labels, annotations)),),
        **life_of(metadata),
        ttl=None,
        starts=spec.starts,
        guardian=guardian_of(parent.name),
        tenure=spec.tenure,
        member=member,
        finalizer=kinds.TICKET_FINALIZER,
        finalizers=tuple(metadata.finalizers or ()),
        problems=findings.problems,
        labels=labels,
        status=ticket_status_of(spelling(ticket.status), template.pod.requests),
    )


def _guardian_labels(parent: Parent, labels: Mapping[str, str]) -> Mapping[str, str]:
    """The labels by which korder's users find guardians, without those of the ticket itself.

    A guardian with the labels of an application would count for its disruption budgets.
    """
    node = {kinds.NODE_LABEL: labels[kinds.NODE_LABEL]} if kinds.NODE_LABEL in labels else {}
    return MappingProxyType(
        {
            kinds.TICKET_LABEL: label_value(parent.name),
            kinds.TICKET_UID_LABEL: parent.uid,
            kinds.GUARDIAN_LABEL: "true",
            kinds.COMPONENT_LABEL: "guardian-pod",
            kinds.ROLE_LABEL: "guardian",
            **node,
        }
    )


def _asks(
    parent: Parent,
    member: Membership | None,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
) -> Asks:
    told = labels.get(kinds.ORDER_LABEL) or annotations.get(kinds.ORDER_LABEL, "")
    return Asks(
        name=parent.name,
        order=member.of.name if member is not None else told,
        group=annotations.get(kinds.GROUP_ANNOTATION, ""),
        labels=tuple(sorted(labels.items())),
    )


def _membership(
    metadata: kinds.KorderMetadata,
    parent: Parent,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
) -> Membership | None:
    for owner in owners_of(metadata):
        if owner.controller and (owner.api_version, owner.kind) == (
            kinds.API_VERSION,
            kinds.ORDERS.kind,
        ):
            order = Parent(
                kinds.API_VERSION, kinds.ORDERS.kind, parent.namespace, owner.name, owner.uid
            )
            slot = annotations.get(SLOT_ANNOTATION) or _slot(parent.name, owner.name, labels)
            return Membership(order, slot, annotations.get(SHAPE_ANNOTATION, ""))
    return None


def _slot(ticket: str, order: str, labels: Mapping[str, str]) -> str:
    """The slot of a ticket that does not name it."""
    return labels.get(kinds.NODE_LABEL) or ticket.removeprefix(f"{order}-")


# Errors in the spec of a ticket are in `problems`.
decode_ticket = Decoder(kinds.TICKETS.kind, kinds.KorderObject, _hold)
