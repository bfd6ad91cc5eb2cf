"""The fields of Order and Ticket: those of korder's first API and of its latest, side by side.

The two differ where a schedule, a refresh policy, a duration or a start are written. Either place
will do, and saying two different things is refused. What korder's webhooks refuse is refused here
by CEL, on updates as well; what no schema can judge (whether a cron expression ever fires) is told
in a condition. The two refresh policies have no default here: one could not tell who set it.
"""

from __future__ import annotations

from headroom.dialects.korder.kinds import API_VERSION
from headroom.dialects.korder.patterns import START, ZONE
from headroom.dialects.korder.rules import RULES
from headroom.wire.schema.notation import Catalogue, Field, of
from headroom.wire.schema.structural import scalar

_FEW = {"maxProperties": 16, "additionalProperties": {**scalar("quantity"), "maxLength": 32}}
_FEW_LABELS = {
    "maxProperties": 64,
    "additionalProperties": {"type": "string", "maxLength": 63},
}
_REFRESH = "=Always|OnClaim|Never"
_REFRESH_MEANS = (
    "OnClaim (the default): a claimed ticket is replaced, and so is one whose time is over. "
    "Always: and each tick of the schedule renews what is not claimed. Never: neither is replaced."
)

_TICKET_SPEC: dict[str, Field] = {
    "lifecycle": of("TicketLifecycle", "What becomes of a ticket whose time is over."),
    "duration": of("duration", "How long a ticket lasts once its room is kept; 24h if not said."),
    "startTime": of("time", "Not before; the duration then counts from here.", nullable=True),
    "window": of("TicketWindow", "Duration and start, as the latest korder spells them."),
    "schedulerName": of("string", "Who places the guardian.", maxLength=253),
    "priorityClassName": of(
        "string",
        "Accepted. Guardians have the priority class of their mode, or others could evict them.",
        maxLength=253,
    ),
    "resources": of("TicketResources", "What is kept; cpu 100m and memory 128Mi if not said."),
    "nodeName": of("string", "On this node, which must be fit for it.", maxLength=253),
    "nodeSelector": of("{}string", "As in a Pod.", maxProperties=64),
    "affinity": of("Affinity", "As in a Pod."),
    "tolerations": of("[]Toleration", "As in a Pod.", maxItems=64),
    "topologySpreadConstraints": of("[]TopologySpreadConstraint", "As in a Pod.", maxItems=16),
}

TYPES: dict[str, dict[str, Field]] = {
    "Order": {
        "apiVersion": of("string"),
        "kind": of("string"),
        "metadata": of("ObjectMeta"),
        "spec": of("OrderSpec!", "How many tickets, of what shape and when."),
        "status": of("OrderStatus", "What became of it; written by the operator only."),
    },
    "OrderSpec": {
        "paused": of("bool", "True: no ticket is made or deleted."),
        "replicas": of(
            "int32", "How many; not used with daemonSet.", minimum=0, maximum=100_000, default=1
        ),
        "daemonSet": of("bool", "True: one ticket on every eligible node."),
        "strategy": of("OrderStrategy", "When tickets are made; OneTime if not said."),
        "refreshPolicy": of(_REFRESH, _REFRESH_MEANS),
        "minReadySeconds": of("int32", "Accepted, not used.", minimum=0),
        "selector": of("OrderSelector", "Accepted, not used: tickets belong by ownerReference."),
        "template": of("OrderTemplate!", "What tickets are made from."),
    },
    "OrderStrategy": {
        "type": of(
            "=OneTime|Scheduled|Recurring!",
            "OneTime: the number is kept. Scheduled: tickets are made at each tick of the schedule "
            "and last their duration. Recurring: the number is kept, and each tick refreshes.",
        ),
        "schedule": of(
            "string",
            "A cron expression of five fields, or a name such as @daily; in UTC, or in the time "
            "zone of the template's window.",
            maxLength=128,
        ),
        "refreshPolicy": of(_REFRESH, _REFRESH_MEANS),
    },
    "OrderSelector": {
        "matchLabels": of("{}string"),
        "matchExpressions": of("[]LabelSelectorRequirement"),
    },
    "OrderTemplate": {
        "metadata": of("TicketTemplateMeta", "Labels and annotations of the tickets."),
        "spec": of("TicketTemplateSpec!", "As the spec of a Ticket."),
    },
    "TicketTemplateMeta": {
        "labels": of("{}string", "Tickets can be asked for by them.", **_FEW_LABELS),
        "annotations": of("{}string", "Such as korder.dev/ticket-group."),
        "finalizers": of("[]string", "Not used."),
        "name": of("string", "Not used."),
        "namespace": of("string", "Not used."),
        "creationTimestamp": of("time", "Not used.", nullable=True),
    },
    "TicketTemplateSpec": _TICKET_SPEC,
    "Ticket": {
        "apiVersion": of("string"),
        "kind": of("string"),
        "metadata": of("ObjectMeta"),
        "spec": of("TicketSpec!", "What is kept, where and for how long."),
        "status": of("TicketStatus", "What became of it; written by the operator only."),
    },
    "TicketSpec": {
        **_TICKET_SPEC,
        "expectedPods": of(
            "int32",
            "How many ready pods a PodDisruptionBudget expects of this ticket. Always 0, because a "
            "guardian is never ready; you need not write it.",
            default=0,
            minimum=0,
            maximum=0,
        ),
    },
    "TicketLifecycle": {
        "ttlSecondsAfterFinished": of(
            "int32", "Deleted so long after its end; 3600 if not said.", minimum=0
        ),
        "cleanupPolicy": of(
            "=Delete|Retain", "Retain: a ticket that is over is kept.", default="Delete"
        ),
    },
    "TicketWindow": {
        "startTime": of(
            "string",
            "Such as 2027-01-04T08:00:00Z; without an offset it is meant in the time zone.",
            pattern=START,
            maxLength=64,
        ),
        "timeZone": of(
            "string", "Of the IANA database, such as Europe/Zurich.", pattern=ZONE, maxLength=64
        ),
        "duration": of("duration", "How long a ticket lasts once its room is kept."),
    },
    "TicketResources": {
        "requests": of("{}quantity", "What is kept.", **_FEW),
        "limits": of("{}quantity", "Taken for requests that are left out.", **_FEW),
        "claims": of("[]ResourceClaim", "Accepted, not used."),
    },
    "OrderStatus": {
        "replicas": of("int32", "All tickets of the Order, whatever their phase."),
        "desiredReplicas": of("int32", "Tickets that should be Ready."),
        "availableReplicas": of("int32", "Tickets that are."),
        "unavailableReplicas": of("int32", "Tickets that are Pending."),
        "claimedReplicas": of("int64", "Tickets given to pods so far."),
        "terminalReplicas": of("int32", "Tickets that are Expired."),
        "updatedReplicas": of("int32", "Tickets of the present template, claimed ones left out."),
        "hits": of("int64", "Pods that asked and got a ticket."),
        "misses": of("int64", "Pods that asked and got none."),
        "lastScheduleTime": of("time", "The last tick of the schedule."),
        "nextScheduleTime": of("time", "The next one."),
        "selector": of("string", "Finds the tickets' guardians."),
        "spentReplicas": of("[]string", "What is used up and not replaced (Never)."),
        "collisionCount": of("int32", "Not used: names do not collide."),
        "observedGeneration": of("int64", "The generation of the spec that this speaks about."),
        "conditions": of("[]KorderCondition", "Ready, Progressing and Failure."),
    },
    "TicketStatus": {
        "phase": of("string", "Pending, Ready, Claimed or Expired."),
        "reason": of("string"),
        "message": of("string"),
        "activationTime": of("time", "When its time began."),
        "expirationTime": of("time", "When its time is over."),
        "claimedTime": of("time", "When a pod got it."),
        "finishedTime": of("time", "When it ended."),
        "utilizationRate": of("string", "How much of it its pod uses."),
        "nodeName": of("string", "Where the room is."),
        "guardianPod": of("string", "The pod that keeps it, as namespace/name."),
        "podName": of("string", "The same, as the first korder spells it."),
        "podNamespace": of("string"),
        "claimedPod": of("string", "The pod that got it, as namespace/name."),
        "claimedPodUID": of("string"),
        "allocated": of("{}quantity", "What that pod uses of it."),
        "observedGeneration": of("int64", "The generation of the spec that this speaks about."),
        "conditions": of("[]KorderCondition", "Ready, GuardianReady, Expiring and others."),
    },
    "KorderCondition": {
        "type": of("string!"),
        "status": of("string!"),
        "reason": of("string"),
        "message": of("string"),
        "lastTransitionTime": of("time"),
        "observedGeneration": of("int64"),
    },
}

_KINDS = ("Order", "Ticket")


def extended(catalogue: Catalogue) -> Catalogue:
    """The catalogue with Order and Ticket."""
    kinds = {f"{API_VERSION}/{kind}": kind for kind in _KINDS}
    return catalogue.extended(TYPES, kinds, RULES, frozenset(_KINDS))
