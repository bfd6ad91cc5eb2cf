"""The fields of Order and Ticket: those of korder's first API and of its latest, side by side.

The two APIs have the schedule, the refresh policy, the duration and the start in different places.
Each place works; different values in both are refused. What korder's webhooks refuse is refused
here by CEL, also on updates; what no schema can check (whether a cron expression ever fires) is
reported in a condition. The two refresh policies have no default here, because a default could not
be told apart from a value that a user set.
"""

from __future__ import annotations

from headroom.dialects.korder.kinds import API_VERSION
from headroom.dialects.korder.patterns import START, ZONE
from headroom.dialects.korder.schema_rules import RULES
from headroom.wire.schema.notation import OBJECT, Catalogue, Field, of
from headroom.wire.schema.structural import scalar

_FEW = {"maxProperties": 16, "additionalProperties": {**scalar("quantity"), "maxLength": 32}}
_FEW_LABELS = {
    "maxProperties": 64,
    "additionalProperties": {"type": "string", "maxLength": 63},
}
CONDITION: dict[str, Field] = {
    "type": of("string!"),
    "status": of("string!"),
    "reason": of("string"),
    "message": of("string"),
    "lastTransitionTime": of("time"),
    "observedGeneration": of("int64"),
}
_REFRESH = "=Always|OnClaim|Never"
_REFRESH_MEANS = (
    "OnClaim (the default): a claimed or expired ticket is replaced. "
    "Always: also, each tick of the schedule renews unclaimed tickets. Never: no replacement."
)

_TICKET_SPEC: dict[str, Field] = {
    "lifecycle": of("TicketLifecycle", "What happens to an expired ticket."),
    "duration": of("duration", "How long a ticket lasts once its room is held; default 24h."),
    "startTime": of("time", "The earliest start; the duration counts from here.", nullable=True),
    "window": of("TicketWindow", "Duration and start, in the latest format of korder."),
    "schedulerName": of("string", "The scheduler that places the guardian.", maxLength=253),
    "priorityClassName": of(
        "string",
        "Accepted. Guardians have the priority class of their mode, or others could evict them.",
        maxLength=253,
    ),
    "resources": of("TicketResources", "What is kept; default cpu 100m and memory 128Mi."),
    "nodeName": of("string", "Only on this node, which must be eligible.", maxLength=253),
    "nodeSelector": of("{}string", "As in a Pod.", maxProperties=64),
    "affinity": of("Affinity", "As in a Pod."),
    "tolerations": of("[]Toleration", "As in a Pod.", maxItems=64),
    "topologySpreadConstraints": of("[]TopologySpreadConstraint", "As in a Pod.", maxItems=16),
}

TYPES: dict[str, dict[str, Field]] = {
    "Order": {
        **OBJECT,
        "spec": of("OrderSpec!", "How many tickets, of which shape, and when."),
        "status": of("OrderStatus", "The observed state; only the operator writes it."),
    },
    "OrderSpec": {
        "paused": of("bool", "True: no ticket is created or deleted."),
        "replicas": of(
            "int32", "How many; not used with daemonSet.", minimum=0, maximum=100_000, default=1
        ),
        "daemonSet": of("bool", "True: one ticket on every eligible node."),
        "strategy": of("OrderStrategy", "When tickets are created; default OneTime."),
        "refreshPolicy": of(_REFRESH, _REFRESH_MEANS),
        "minReadySeconds": of("int32", "Accepted, not used.", minimum=0),
        "selector": of("OrderSelector", "Accepted, not used: an ownerReference names the order."),
        "template": of("OrderTemplate!", "The template of the tickets."),
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
        "labels": of("{}string", "Pods can ask for tickets by these labels.", **_FEW_LABELS),
        "annotations": of("{}string", "Such as korder.dev/ticket-group."),
        "finalizers": of("[]string", "Not used."),
        "name": of("string", "Not used."),
        "namespace": of("string", "Not used."),
        "creationTimestamp": of("time", "Not used.", nullable=True),
    },
    "TicketTemplateSpec": _TICKET_SPEC,
    "Ticket": {
        **OBJECT,
        "spec": of("TicketSpec!", "What is kept, where and for how long."),
        "status": of("TicketStatus", "The observed state; only the operator writes it."),
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
            "int32", "Deleted this many seconds after its end; default 3600.", minimum=0
        ),
        "cleanupPolicy": of(
            "=Delete|Retain", "Retain: an expired ticket is kept.", default="Delete"
        ),
    },
    "TicketWindow": {
        "startTime": of(
            "string",
            "Such as 2027-01-04T08:00:00Z; without an offset it is in the time zone.",
            pattern=START,
            maxLength=64,
        ),
        "timeZone": of(
            "string", "Of the IANA database, such as Europe/Zurich.", pattern=ZONE, maxLength=64
        ),
        "duration": of("duration", "How long a ticket lasts once its room is held."),
    },
    "TicketResources": {
        "requests": of("{}quantity", "What is kept.", **_FEW),
        "limits": of("{}quantity", "Used for requests that are left out.", **_FEW),
        "claims": of("[]ResourceClaim", "Accepted, not used."),
    },
    "OrderStatus": {
        "replicas": of("int32", "All tickets of the Order, whatever their phase."),
        "desiredReplicas": of("int32", "Tickets that should be Ready."),
        "availableReplicas": of("int32", "Tickets that are Ready."),
        "unavailableReplicas": of("int32", "Tickets that are Pending."),
        "claimedReplicas": of("int64", "Tickets given to pods so far."),
        "terminalReplicas": of("int32", "Tickets that are Expired."),
        "updatedReplicas": of("int32", "Tickets of the current template, without claimed ones."),
        "hits": of("int64", "Pods that asked and got a ticket."),
        "misses": of("int64", "Pods that asked and got none."),
        "lastScheduleTime": of("time", "The last tick of the schedule."),
        "nextScheduleTime": of("time", "The next one."),
        "selector": of("string", "Finds the tickets' guardians."),
        "spentReplicas": of("[]string", "Tickets that are used up and not replaced (Never)."),
        "collisionCount": of("int32", "Not used: names do not collide."),
        "observedGeneration": of("int64", "The generation of the spec that this status describes."),
        "conditions": of("[]KorderCondition", "Ready, Progressing and Failure."),
    },
    "TicketStatus": {
        "phase": of("string", "Pending, Ready, Claimed or Expired."),
        "reason": of("string"),
        "message": of("string"),
        "activationTime": of("time", "When its duration began."),
        "expirationTime": of("time", "When it expires."),
        "claimedTime": of("time", "When a pod got it."),
        "finishedTime": of("time", "When it ended."),
        "utilizationRate": of("string", "How much of it its pod uses."),
        "nodeName": of("string", "The node of the room."),
        "guardianPod": of("string", "The pod that keeps it, as namespace/name."),
        "podName": of("string", "The same, in the first format of korder."),
        "podNamespace": of("string"),
        "claimedPod": of("string", "The pod that got it, as namespace/name."),
        "claimedPodUID": of("string"),
        "allocated": of("{}quantity", "What that pod uses of it."),
        "observedGeneration": of("int64", "The generation of the spec that this status describes."),
        "conditions": of("[]KorderCondition", "Ready, GuardianReady, Expiring and others."),
    },
    "KorderCondition": CONDITION,
}

_KINDS = ("Order", "Ticket")


def extended(catalogue: Catalogue) -> Catalogue:
    """The catalogue with Order and Ticket."""
    kinds = {f"{API_VERSION}/{kind}": kind for kind in _KINDS}
    return catalogue.extended(TYPES, kinds, RULES, frozenset(_KINDS))
