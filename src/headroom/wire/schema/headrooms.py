"""The fields of a Headroom: what each means, its limits, and the rules that hold between them.

A part of `own`, apart because the kind is large. What needs a calendar (whether a cron expression
ever fires, whether a time zone exists) no schema can judge; `core.windows.judged` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.core.quantity import milli_of
from headroom.wire.schema import autoshapes, promises, terms
from headroom.wire.schema.notation import (
    OBJECT,
    Field,
    SchemaRule,
    exactly_one,
    given,
    has_each,
    of,
)
from headroom.wire.schema.promises import MOST_SLOTS
from headroom.wire.schema.structural import KEY_PATTERN, NAME_PATTERN, cel_at_most, scalar

_FOLLOWERS = ("slots", "perVolume", "fromAnnotation")
_CRON_FIELD = "[0-9A-Za-z*?/,#-]+"
_CRON = (
    "^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|"
    f"{_CRON_FIELD}( +{_CRON_FIELD}){{4}})$"
)
# The API server compares amounts only where it knows that this is not much work.
_FEW_AMOUNTS = {
    "maxProperties": 16,
    "additionalProperties": {**scalar("quantity"), "maxLength": 32},
}

TYPES: dict[str, dict[str, Field]] = {
    "Headroom": {
        **OBJECT,
        "spec": of("HeadroomSpec!", "How much of what stands ready, when and for whom."),
        "status": of("HeadroomStatus", "What became of it; written by the operator only."),
    },
    "HeadroomSpec": {
        "slot": of(
            "HeadroomSlot!",
            "The shape of one slot: exactly one of template, from, auto.",
        ).needed("it defines the room to hold"),
        "size": of(
            "HeadroomSize!",
            "How many slots: exactly one of its fields.",
        ).needed("it defines how many slots to hold"),
        "limits": of("HeadroomLimits", "What all slots together may come to at most."),
        "mode": of(
            "=Locked|Preemptible",
            "Locked: only owners get a slot, by handover. Preemptible: anything more important "
            "gets it, by preemption.",
            default="Locked",
        ),
        "owners": of(
            "[]OwnerRule",
            "Who may claim a slot (Locked). A pod must match one item; of an item, all parts.",
            minItems=1,
            maxItems=32,
        ),
        "refill": of(
            "=OnClaim|Always|Never",
            "OnClaim: a slot that is claimed or lost is held again. Always: and all slots are "
            "renewed at each start of the schedule. Never: a claimed slot is not replaced.",
            default="OnClaim",
        ),
        "reclaim": of(
            "=WhenFree|Preempt",
            "How a slot of a node (size.perNode) comes back whose room others have. WhenFree: when "
            "it is free. Preempt: less important pods give way, where the limits of the namespace "
            "allow it (preempt=PRIORITY).",
            default="WhenFree",
        ),
        "slotLifetime": of(
            "duration",
            "A held slot is renewed after this time (dropped, with refill Never); 0 means never.",
        ),
        "schedule": of(
            "[]HeadroomWindow",
            "When slots are held; absent: always. Where windows overlap, the larger size wins.",
            minItems=1,
            maxItems=32,
        ),
        "paused": of("bool", "True: nothing is held anew and nothing is given back."),
    },
    "HeadroomSlot": {
        "template": of("SlotTemplate", "The scheduling fields of a pod."),
        "from": of("SlotSource", "A workload of this namespace: slots are like its pods."),
        "auto": of("SlotAuto", "Workloads likeliest to grow: slots are like their pods."),
        "chunk": of(
            "=Pod|Node",
            "Pod: one guardian for each slot. Node: the room of all slots in as few guardians as "
            "whole nodes hold; with size.replicas and size.percent.",
            default="Pod",
        ),
    },
    "SlotTemplate": {
        "resources": of("SlotResources", "What a slot keeps."),
        "nodeSelector": of("{}string", "As in a Pod.", maxProperties=64),
        "tolerations": of("[]Toleration", "As in a Pod.", maxItems=64),
        "affinity": of("Affinity", "As in a Pod."),
        "topologySpreadConstraints": of(
            "[]TopologySpreadConstraint",
            "As in a Pod. The guardians of a Headroom carry the label headroom.dev/for with its "
            "name.",
            maxItems=16,
        ),
        "schedulerName": of(
            "string", "Who places the guardians.", default="default-scheduler", maxLength=253
        ),
    },
    "SlotResources": {
        "requests": of("{}quantity", "Such as cpu: 500m.", **_FEW_AMOUNTS),
        "limits": of("{}quantity", "Taken for requests that are left out.", **_FEW_AMOUNTS),
    },
    "SlotSource": {
        "apiVersion": of("=apps/v1|batch/v1!"),
        "kind": of("=DaemonSet|Deployment|Job|ReplicaSet|StatefulSet!"),
        "name": of("string!", "The workload's name.", pattern=NAME_PATTERN, maxLength=253),
    },
    "HeadroomSize": {
        "replicas": of("int32", "A fixed number.", minimum=0, maximum=MOST_SLOTS),
        "percent": of(
            "int32",
            "Of the replicas of slot.from, or of each that slot.auto chose; rounded up.",
            minimum=0,
            maximum=1000,
        ),
        "perNode": of("SizePerNode", "On every eligible node: exactly one of slots and percent."),
        "utilization": of(
            "SizeUtilization", "Enough to bring requested over allocatable under a threshold."
        ),
        "follow": of("SizeFollow", "Next to each pod that carries a scheduling gate."),
        "adaptive": of("SizeAdaptive", "As much as a promise needs, learnt from arrivals."),
    },
    "SizePerNode": {
        "slots": of("int32", "So many slots on each.", minimum=1, maximum=110),
        "percent": of("int32", "One slot of this part of its allocatable.", minimum=1, maximum=100),
    },
    "SizeUtilization": {
        "threshold": of(
            "number!",
            "The part of the capacity that may be asked for; more than 0, at most 1.",
            minimum=0.001,
            maximum=1,
        ).needed("the part of the capacity that may be asked for"),
    },
    "SizeFollow": {
        "gate": of("string!", "The name of the gate.", pattern=KEY_PATTERN, maxLength=317),
        "slots": of("int32", "So many slots for each pod; 1.", minimum=1, maximum=32),
        "perVolume": of("FollowVolumes", "A slot for each of its bound volumes of a CSI driver."),
        "fromAnnotation": of(
            "string",
            "The pod's annotation that says how many, up to 32.",
            pattern=KEY_PATTERN,
            maxLength=317,
        ),
        "deadline": of(
            "duration", "A pod that still waits for its slots after this time goes without; 5m."
        ),
    },
    "FollowVolumes": {
        "driver": of("string!", "The CSI driver's name.", pattern=NAME_PATTERN, maxLength=253),
        "requests": of(
            "{}string", "By resource: the volume's attribute that says how much.", maxProperties=16
        ),
        "limits": of(
            "{}string",
            "By resource: the same for its limit, taken where there is no request.",
            maxProperties=16,
        ),
    },
    "HeadroomLimits": {
        "slots": of("int32", "At most so many slots.", minimum=1),
        "nodes": of(
            "int32",
            "Slots on at most so many nodes (perNode); nodes of the cluster (utilization).",
            minimum=1,
        ),
        "pods": of(
            "int32", "At most so many guardians; with utilization, real pods count too.", minimum=1
        ),
        "resources": of("{}quantity", "At most so much of each resource.", **_FEW_AMOUNTS),
    },
    "HeadroomWindow": {
        "start": of(
            "string!",
            "A cron expression of five fields, or a name such as @daily.",
            pattern=_CRON,
            maxLength=128,
        ),
        "duration": of("duration!", "How long after its start the window ends."),
        "timeZone": of(
            "string",
            "A name of the IANA database, such as Europe/Zurich.",
            default="UTC",
            pattern="^[A-Za-z0-9_+/-]+$",
            maxLength=64,
        ),
        "leadTime": of("duration", "How long before the start slots are held already."),
        "replicas": of(
            "int32",
            "The size in this window, instead of size.replicas.",
            minimum=0,
            maximum=MOST_SLOTS,
        ),
    },
    "HeadroomStatus": {
        "desired": of("int32", "Slots that should stand now."),
        "held": of("int32", "Slots that do."),
        "pending": of("int32", "Slots on their way."),
        "claimed": of("int64", "Slots given to owners so far."),
        "hits": of("int64", "Owners that found a slot."),
        "misses": of("int64", "Owners that found none."),
        "nextStart": of("time", "When the next window of the schedule starts."),
        "selector": of("string", "Finds the guardians; for the scale subresource."),
        "spent": of("[]string", "Slots that are used up and not held again (refill Never)."),
        "auto": of("HeadroomAuto", "What slot.auto chose, and why."),
        "promise": of("HeadroomPromise", "How many owners started in time, and what it takes."),
        "conditions": of(
            "[]HoldCondition",
            "Ready, Progressing, Degraded and PromiseKept.",
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
        ),
        "observedGeneration": of("int64", "The generation of the spec that this speaks about."),
    },
}


def _says_how_much(size: Mapping[str, Any]) -> bool:
    """Whether the size itself says how much a slot keeps."""
    by_node = (size.get("perNode") or {}).get("percent")
    return bool(by_node) or "perVolume" in (size.get("follow") or {})


def _asks(spec: Mapping[str, Any]) -> bool:
    """Whether a template says how much to keep, or the size does."""
    if "template" not in spec["slot"] or _says_how_much(spec["size"]):
        return True
    resources = spec["slot"]["template"].get("resources") or {}
    return bool(resources.get("requests") or resources.get("limits"))


def _too_small(spec: Mapping[str, Any]) -> list[str]:
    """The limits that do not allow for one slot of the template."""
    if (spec["size"].get("perNode") or {}).get("percent"):
        return []
    limits = (spec.get("limits") or {}).get("resources") or {}
    template = spec["slot"].get("template") or {}
    requests = (template.get("resources") or {}).get("requests") or {}
    return [
        f"{name} is {most}, and a slot asks for {requests[name]}"
        for name, most in limits.items()
        if name in requests and milli_of(most) < milli_of(requests[name])
    ]


_TEMPLATE = "self.slot.template"
_REQUESTS = f"{_TEMPLATE}.resources.requests"
_BY_VOLUME = "(has(self.size.follow) && has(self.size.follow.perVolume))"
_IS_PART = "(has(self.size.perNode) && has(self.size.perNode.percent))"

RULES: dict[str, tuple[SchemaRule, ...]] = {
    "HeadroomSpec": (
        *promises.ON_SPEC,
        *autoshapes.ON_SPEC,
        terms.rule(
            terms.lacks("size.percent") | terms.lacks("slot.template"),
            "percent is of the replicas of a workload: name it in slot.from",
            at="size",
        ),
        terms.rule(
            terms.differs("slot.chunk", "Node") | terms.one_of("size.replicas", "size.percent"),
            "chunk: Node goes with size.replicas and size.percent only",
            at="slot",
        ),
        SchemaRule(
            f"!has({_TEMPLATE}) || {_IS_PART} || {_BY_VOLUME} || (has({_TEMPLATE}.resources) && "
            f"((has({_REQUESTS}) && size({_REQUESTS}) > 0) || "
            f"(has({_TEMPLATE}.resources.limits) && size({_TEMPLATE}.resources.limits) > 0)))",
            "the template asks for nothing, so nothing would be held: set resources.requests, "
            "such as cpu: 500m",
            _asks,
            at="slot",
        ),
        SchemaRule(
            f"{_IS_PART} || !has(self.limits) || !has(self.limits.resources) || "
            f"!has({_TEMPLATE}) || !has({_TEMPLATE}.resources) || !has({_REQUESTS}) || "
            + cel_at_most(_REQUESTS, "self.limits.resources"),
            "resources is smaller than one slot, so nothing would ever be held",
            lambda spec: not _too_small(spec),
            at="limits",
            found=lambda spec: ", ".join(_too_small(spec)),
        ),
        terms.rule(
            terms.equals("mode", "Preemptible") | terms.one_of("owners", "slot.auto"),
            "missing: no pod could claim a slot; add at least one rule, or mode: Preemptible",
            at="owners",
        ),
        terms.rule(
            terms.differs("mode", "Preemptible") | terms.lacks("owners"),
            "anything more important takes a Preemptible slot: leave owners out, or mode: Locked",
            at="owners",
        ),
        SchemaRule(
            "!has(self.schedule) || has(self.size.replicas) || has(self.size.adaptive) || "
            "self.schedule.all(window, !has(window.replicas))",
            "replicas of a window go with size.replicas and size.adaptive only",
            lambda spec: (
                any(name in spec["size"] for name in ("replicas", "adaptive"))
                or all(window.get("replicas") is None for window in spec.get("schedule", ()))
            ),
            at="schedule",
        ),
    ),
    "HeadroomSlot": (exactly_one(("template", "from", "auto")),),
    "SlotSource": (
        SchemaRule(
            "self.apiVersion == (self.kind == 'Job' ? 'batch/v1' : 'apps/v1')",
            "a Job is of batch/v1, every other workload of apps/v1",
            lambda source: (source["kind"] == "Job") == (source["apiVersion"] == "batch/v1"),
            at="apiVersion",
        ),
    ),
    "HeadroomSize": (exactly_one(tuple(TYPES["HeadroomSize"])),),
    "SizePerNode": (
        SchemaRule(
            "has(self.slots) != has(self.percent)",
            "exactly one of slots and percent is needed",
            lambda per_node: ("slots" in per_node) != ("percent" in per_node),
            found=lambda per_node: f"has {'both' if 'slots' in per_node else 'neither'}",
        ),
    ),
    "SizeUtilization": (
        SchemaRule(
            # The API server compares a whole number with the whole part of a minimum only.
            "self.threshold > 0.0",
            "must be more than 0",
            lambda utilization: utilization["threshold"] > 0,
            at="threshold",
        ),
    ),
    "SizeFollow": (
        SchemaRule(
            f"[{has_each(_FOLLOWERS)}].filter(one, one).size() < 2",
            f"at most one of {', '.join(_FOLLOWERS)} says how many slots",
            lambda follow: len(given(follow, _FOLLOWERS)) < 2,
            found=lambda follow: f"has {' and '.join(given(follow, _FOLLOWERS))}",
        ),
        terms.rule(
            terms.lacks("deadline") | terms.longer_than_zero("deadline"),
            "must be longer than 0: otherwise no slot is ever made",
            at="deadline",
        ),
    ),
    "HeadroomWindow": (
        terms.rule(
            terms.longer_than_zero("duration"),
            "must be longer than 0: otherwise nothing is held",
            at="duration",
        ),
    ),
}
