"""Koordinator's Reservations, served unchanged with guardian pods that every tool sees.

`reservations` decodes the objects as holds, `statuses` and `writes` write their state in
Koordinator's format, `schema` has the kind. Decisions are made in the core, as for our own kinds.
"""

from __future__ import annotations

from typing import Any

from headroom.dialects.koordinator import names
from headroom.dialects.koordinator.pod_annotations import (
    decode_annotated_hold,
    with_koordinator_annotations,
)
from headroom.dialects.koordinator.reservations import decode_reservation
from headroom.dialects.koordinator.schema import definitions, with_reservations
from headroom.dialects.koordinator.writes import render
from headroom.wire.admission_policies.cel import Check, confined
from headroom.wire.admission_policies.objects import HAS_ENDED
from headroom.wire.dialect import Dialect, Rival
from headroom.wire.installed_kinds import LABELS
from headroom.wire.kinds import HOLDS, NAMESPACES
from headroom.wire.rbac import READ, rule


def namespace_object() -> dict[str, Any]:
    """A namespace only for our pods; a guardian may have a host port, which others forbid."""
    labels = {**LABELS, "pod-security.kubernetes.io/enforce": "privileged"}
    return NAMESPACES.new({"name": names.GUARDIAN_NAMESPACE, "labels": labels})


KOORDINATOR = Dialect(
    name="koordinator",
    decoders={names.RESERVATIONS: decode_reservation},
    render=render,
    definitions=definitions,
    rules=(
        # Ended Reservations are deleted a day later, as in Koordinator.
        rule(names.GROUP, ("reservations",), (*READ, "delete")),
        rule(names.GROUP, ("reservations/status",), ("patch",)),
    ),
    schedulers=frozenset({names.SCHEDULER_NAME}),
    annotations=names.ANNOTATIONS,
    claims=(names.ALLOCATED,),
    catalogue=with_reservations,
    reads={HOLDS: decode_annotated_hold},
    dress_pod=with_koordinator_annotations,
    confined=(
        confined(
            names.RESERVATIONS,
            ("DELETE",),
            Check(HAS_ENDED, "the operator deletes reservations that have ended"),
        ),
    ),
    namespaces=(names.GUARDIAN_NAMESPACE,),
    objects=(namespace_object(),),
    rivals=(Rival("koord-scheduler", "Koordinator's own scheduler"),),
)

__all__ = ["KOORDINATOR"]
