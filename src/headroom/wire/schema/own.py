"""The fields of our own kinds: what each means, its limits, and the rules that hold between them.

Written once, in our notation: `crds` makes the CRDs from it, and the same rules check manifests
where no API server does; those of a Headroom are in `headrooms`. What an object with these fields
*does* is core's business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from headroom.core.names import API_VERSION
from headroom.wire.schema import autoshapes, headrooms, promises
from headroom.wire.schema.notation import OBJECT, Catalogue, Field, SchemaRule, kubernetes, of
from headroom.wire.schema.structural import KEY_PATTERN, NAME_PATTERN
from headroom.wire.schema.terms import one_of, rule

_VALUE = r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"


def _words(notation: str, description: str, pattern: str, most: int) -> Field:
    return of(notation, description, pattern=pattern, maxLength=most)


_TYPES: dict[str, dict[str, Field]] = {
    "Hold": {
        **OBJECT,
        "spec": of("HoldSpec!", "What is kept, for whom and until when."),
        "status": of("HoldStatus", "What became of it; written by the operator only."),
    },
    "HoldSpec": {
        "template": of(
            "HoldTemplate!",
            "The shape of the slot: a pod template whose requests, node constraints, tolerations "
            "and priority are those of the room kept. The fields are those of a Pod.",
        ),
        "owners": of(
            "[]OwnerRule!",
            "Who may claim the slot. A pod must match one item; of an item, all parts.",
            minItems=1,
            maxItems=32,
        ).needed("no pod could claim this; add at least one rule"),
        "ttl": of(
            "duration",
            "How long after its creation the hold ends; 0 means never.",
            default="24h",
        ),
        "expires": of("time", "When the hold ends, at the latest."),
        "allocateOnce": of(
            "bool",
            "Whether the first owner ends the hold. With false many owners may share it, and what "
            "one gives back is held again.",
            default=True,
        ),
        "allocatePolicy": of(
            "=Aligned|Restricted",
            "Aligned: an owner may take the slot and free room of the node together. Restricted: "
            "of resources that the slot has, only the slot's.",
        ),
        "preAllocation": of(
            "bool", "Whether to take the place of running pods of the owners when they end."
        ),
        "unschedulable": of("bool", "True: no new owners."),
        "taints": of("[]HoldTaint", "Keep owners out that do not tolerate them.", maxItems=32),
        "expectedPods": of(
            "int32",
            "How many ready pods a PodDisruptionBudget expects of this hold. Always 0, because a "
            "guardian is never ready; you need not write it.",
            default=0,
            minimum=0,
            maximum=0,
        ),
    },
    "HoldTemplate": {
        "metadata": of("HoldTemplateMeta", "Labels and annotations of the guardian."),
        "spec": of("HoldPodSpec!", "As in a Pod; see: kubectl explain pod.spec"),
    },
    "HoldTemplateMeta": {
        "labels": of("{}string"),
        "annotations": of("{}string"),
        "name": of("string", "Not used."),
        "creationTimestamp": of("time", "Not used.", nullable=True),
    },
    "OwnerRule": {
        "object": of("OwnerObject", "The pod itself."),
        "controller": of("OwnerController", "One of the pod's ownerReferences."),
        "labelSelector": of("OwnerSelector", "The pod's labels."),
        "priorityAtLeast": of("int32", "The least priority of the pod.", maximum=2_000_001_000),
    },
    "OwnerObject": {
        "name": _words("string", "The pod's name.", NAME_PATTERN, 253),
        "namespace": _words(
            "string",
            "The pod's namespace, or * for all. Another one than the Hold's needs an operator that "
            "runs with --allow-cross-namespace-owners.",
            rf"^[*]$|{NAME_PATTERN}",
            63,
        ),
        "uid": of("string", "The pod's uid.", maxLength=64, minLength=1),
        "apiVersion": of("string", "Not used.", maxLength=64),
        "kind": of("=Pod", "Owners are pods."),
    },
    "OwnerController": {
        "apiVersion": of("string", "Such as apps/v1.", maxLength=128),
        "kind": of(
            "string",
            "Such as ReplicaSet. A Deployment's pods name its ReplicaSet.",
            pattern=r"^([A-Z][A-Za-z0-9]*)?$",
            maxLength=63,
        ),
        "name": of("string", "The controller's name.", maxLength=253),
        "uid": of("string", "The controller's uid.", maxLength=64),
        "namespace": of("string", "The pod's namespace, or * for all.", maxLength=63),
        "controller": of("bool", "Whether the reference must be that of the managing controller."),
        "blockOwnerDeletion": of("bool", "Not used."),
    },
    "OwnerSelector": {
        "matchLabels": of(
            "{}string",
            "Labels that the pod must have, with these values.",
            maxProperties=32,
            additionalProperties={"type": "string", "maxLength": 63},
        ),
        "matchExpressions": of(
            "[]OwnerExpression", "Further conditions on the pod's labels.", maxItems=32
        ),
    },
    "OwnerExpression": {
        "key": of("string!", "The label's key.", pattern=KEY_PATTERN, maxLength=317),
        "operator": of("=In|NotIn|Exists|DoesNotExist!"),
        "values": of("[]string", "The values, for In and NotIn.", maxItems=64),
    },
    "HoldTaint": {
        "key": of("string!", "The taint's key.", pattern=KEY_PATTERN, maxLength=317),
        "value": of("string", "The taint's value.", pattern=_VALUE, maxLength=63),
        "effect": of("=NoSchedule|PreferNoSchedule|NoExecute!"),
        "timeAdded": of("time", "Not used."),
    },
    "HoldStatus": {
        "phase": of("=Pending|Waiting|Available|Succeeded|Failed"),
        "nodeName": of("string", "Where the slot is."),
        "allocatable": of("{}quantity", "What the slot keeps."),
        "allocated": of("{}quantity", "What owners use of it."),
        "currentOwners": of("[]HoldOwner", "The pods that have the slot, or part of it."),
        "conditions": of(
            "[]HoldCondition",
            "Ready, Progressing and Degraded.",
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
        ),
        "observedGeneration": of("int64", "The generation of the spec that this speaks about."),
    },
    "HoldOwner": {
        "namespace": of("string!"),
        "name": of("string!"),
        "uid": of("string!"),
    },
    "HoldCondition": {
        "type": of("string!", maxLength=316),
        "status": of("=True|False|Unknown!"),
        "reason": of("string!", maxLength=1024),
        "message": of("string!", maxLength=32768),
        "lastTransitionTime": of("time!"),
        "observedGeneration": of("int64", minimum=0),
    },
    "SlotSet": {
        **OBJECT,
        "spec": of("SlotSetSpec!"),
    },
    "SlotSetSpec": {
        "expectedPods": of(
            "int32",
            "How many ready pods a PodDisruptionBudget expects of the guardians. Always 0, because "
            "a guardian is never ready.",
            default=0,
            minimum=0,
            maximum=0,
        ),
    },
    "ClaimIndex": {
        **OBJECT,
        "spec": of("ClaimIndexSpec!"),
    },
    "ClaimIndexSpec": {
        "keys": of(
            "{}bool",
            "One key of every owner rule in the namespace.",
            **{"x-kubernetes-map-type": "atomic"},  # Else each key is kept twice, once as owned.
        ),
        "priorityAtLeast": of(
            "int32", "Pods of at least this priority may claim, whatever else they carry."
        ),
        "freshUntil": of(
            "time!", "After this moment nobody keeps the index any more, and no pod is gated."
        ),
    },
}

_PARTS = ("object", "controller", "labelSelector", "priorityAtLeast")
_CONTROLLER_PARTS = ("apiVersion", "kind", "name", "uid")


def _asks(holder: Mapping[str, Any]) -> bool:
    """Whether a container, or a pod as a whole, asks for any resource."""
    resources = holder.get("resources") or {}
    return bool(resources.get("requests") or resources.get("limits"))


def _asks_for_something(spec: Mapping[str, Any]) -> bool:
    containers = [*spec["containers"], *(spec.get("initContainers") or ())]
    return _asks(spec) or any(_asks(container) for container in containers)


def _are_labels(selector: Mapping[str, Any]) -> bool:
    labels = selector.get("matchLabels", {})
    return all(
        len(key) <= 317
        and len(value) <= 63
        and re.search(KEY_PATTERN, key)
        and re.search(_VALUE, value)
        for key, value in labels.items()
    )


def _values_fit(expression: Mapping[str, Any]) -> bool:
    return bool(expression.get("values")) == (expression["operator"] in ("In", "NotIn"))


def _cel_asks(holder: str) -> str:
    resources = f"{holder}.resources"
    return (
        f"(has({resources}) && ((has({resources}.requests) && size({resources}.requests) > 0) || "
        f"(has({resources}.limits) && size({resources}.limits) > 0)))"
    )


_RULES: dict[str, tuple[SchemaRule, ...]] = {
    "OwnerRule": (
        rule(one_of(*_PARTS), f"an owner rule needs at least one of {', '.join(_PARTS)}"),
    ),
    "OwnerObject": (
        SchemaRule(
            "has(self.name) || has(self.uid) || has(self.__namespace__)",
            "an owner object needs a name, a namespace or a uid",
            lambda named: any(part in named for part in ("name", "namespace", "uid")),
        ),
    ),
    "OwnerController": (
        SchemaRule(
            "(has(self.controller) && self.controller) || "
            + " || ".join(f"(has(self.{part}) && self.{part} != '')" for part in _CONTROLLER_PARTS),
            f"an owner controller needs at least one of {', '.join(_CONTROLLER_PARTS)}",
            lambda named: bool(
                named.get("controller") or any(named.get(part) for part in _CONTROLLER_PARTS)
            ),
        ),
    ),
    "OwnerSelector": (
        SchemaRule(
            "!has(self.matchLabels) || self.matchLabels.all(key, size(key) <= 317 && "
            f"key.matches('{KEY_PATTERN}') && self.matchLabels[key].matches('{_VALUE}'))",
            "no pod can have such a label: keys are like app or example.com/app, values have at "
            "most 63 letters, digits, - _ and .",
            _are_labels,
            at="matchLabels",
        ),
    ),
    "OwnerExpression": (
        SchemaRule(
            "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
            "In and NotIn need values; Exists and DoesNotExist take none",
            _values_fit,
            at="values",
        ),
    ),
    "HoldPodSpec": (
        SchemaRule(
            f"{_cel_asks('self')} || self.containers.exists(c, {_cel_asks('c')}) || "
            f"(has(self.initContainers) && self.initContainers.exists(c, {_cel_asks('c')}))",
            "no container asks for anything, so nothing would be held: set "
            "resources.requests of a container, such as cpu: 500m",
            _asks_for_something,
            at="containers",
        ),
    ),
}


def _pod_spec() -> dict[str, Field]:
    """The fields of a pod's spec, as a template of ours has them."""
    fields = dict(kubernetes().types["PodSpec"])
    del fields["ephemeralContainers"]  # Only a running pod has these.
    for name, least in (("containers", 1), ("initContainers", 0)):
        fields[name] = replace(fields[name], facts={"minItems": least, "maxItems": 32})
    return fields


@cache
def known() -> Catalogue:
    """Kubernetes' kinds and ours."""
    own = ("Hold", "Headroom", "SlotSet", "ClaimIndex")
    kinds = {f"{API_VERSION}/{kind}": kind for kind in own}
    parts = (_TYPES, headrooms.TYPES, promises.TYPES, autoshapes.TYPES)
    types = {name: fields for part in parts for name, fields in part.items()}
    types["HoldPodSpec"] = _pod_spec()
    rules = {**_RULES, **headrooms.RULES, **promises.RULES}
    return kubernetes().extended(types, kinds, rules, frozenset(own))
