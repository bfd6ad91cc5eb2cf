"""Our own kinds from core values back to JSON, for status writes and for `-o json`.

What is written here reads back equal through `holds`: a status that differs from what was meant
would be written again and again.
"""

from __future__ import annotations

from typing import Any

import msgspec

from headroom.core.amounts import format_resources
from headroom.core.holds import ControllerMatch, Hold, HoldStatus, ObjectMatch, OwnerRule
from headroom.core.objects import Condition, LabelSelector, Taint
from headroom.core.standing.headrooms import HeadroomStatus
from headroom.wire.durations import format_duration
from headroom.wire.objects.growth.autoshapes import auto_json
from headroom.wire.objects.promises import promise_json
from headroom.wire.times import format_time

Json = dict[str, Any]


def status_json(status: HoldStatus) -> Json:
    """A hold's status; what is empty is left out."""
    owners = [
        {"namespace": use.namespace, "name": use.name, "uid": use.uid} for use in status.owners
    ]
    return _filled(
        {
            "phase": status.phase,
            "nodeName": status.node,
            "allocatable": format_resources(status.allocatable),
            "allocated": format_resources(status.allocated),
            "currentOwners": owners,
            "conditions": [_condition(each) for each in status.conditions],
            "observedGeneration": status.observed_generation,
        }
    )


def headroom_status_json(status: HeadroomStatus) -> Json:
    """A headroom's status; its counts are there even when they are zero, for the columns."""
    counts = {
        "desired": status.desired,
        "held": status.held,
        "pending": status.pending,
        "claimed": status.claimed,
        "hits": status.hits,
        "misses": status.misses,
    }
    words = {
        "nextStart": format_time(status.next_start) if status.next_start else "",
        "selector": status.selector,
        "spent": list(status.spent),
        "promise": promise_json(status.promise) if status.promise is not None else {},
        "auto": auto_json(status.auto) if status.auto is not None else {},
        "conditions": [_condition(each) for each in status.conditions],
        "observedGeneration": status.observed_generation,
    }
    return {**counts, **_filled(words)}


def hold_to_json(hold: Hold) -> Json:
    """A hold as `kubectl get -o json` would show it, as far as we know it."""
    parent = hold.parent
    metadata = {
        "name": parent.name,
        "namespace": parent.namespace,
        "uid": parent.uid,
        "resourceVersion": hold.version,
        "generation": hold.generation,
        "creationTimestamp": format_time(hold.created) if hold.created else "",
        "deletionTimestamp": format_time(hold.deleted) if hold.deleted else "",
    }
    return {
        "apiVersion": parent.api_version,
        "kind": parent.kind,
        "metadata": _filled(metadata),
        "spec": _spec(hold),
        "status": status_json(hold.status),
    }


def _spec(hold: Hold) -> Json:
    return {
        "template": msgspec.json.decode(hold.template.raw or "{}"),
        "owners": [_owner(rule) for rule in hold.owners],
        "ttl": format_duration(hold.ttl) if hold.ttl is not None else "0s",
        "allocateOnce": hold.allocate_once,
        **_filled(
            {
                "expires": format_time(hold.expires) if hold.expires else "",
                "allocatePolicy": hold.allocate_policy,
                "preAllocation": hold.pre_allocation,
                "unschedulable": hold.unschedulable,
                "taints": [_taint(taint) for taint in hold.taints],
            }
        ),
    }


def _condition(condition: Condition) -> Json:
    since = {"lastTransitionTime": format_time(condition.since)} if condition.since else {}
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": condition.generation,
        **since,
    }


def _owner(rule: OwnerRule) -> Json:
    owner: Json = {}
    if rule.object is not None:
        owner["object"] = _object(rule.object)
    if rule.controller is not None:
        owner["controller"] = _controller(rule.controller)
    if rule.selector is not None:
        owner["labelSelector"] = selector_json(rule.selector)
    if rule.priority_at_least is not None:
        owner["priorityAtLeast"] = rule.priority_at_least
    return owner


def _object(match: ObjectMatch) -> Json:
    return _filled({"name": match.name, "namespace": match.namespace, "uid": match.uid})


def _controller(match: ControllerMatch) -> Json:
    flag = {} if match.controller is None else {"controller": match.controller}
    named = {
        "apiVersion": match.api_version,
        "kind": match.kind,
        "name": match.name,
        "uid": match.uid,
        "namespace": match.namespace,
    }
    return {**_filled(named), **flag}


def selector_json(selector: LabelSelector) -> Json:
    """A label selector, each requirement as an expression."""
    expressions = [
        {"key": need.key, "operator": need.operator, **_filled({"values": list(need.values)})}
        for need in selector.requirements
    ]
    return _filled({"matchExpressions": expressions})


def _taint(taint: Taint) -> Json:
    return {"key": taint.key, **_filled({"value": taint.value}), "effect": taint.effect}


def _filled(fields: Json) -> Json:
    """Leave out what is empty, as Kubernetes does."""
    return {name: value for name, value in fields.items() if value}
