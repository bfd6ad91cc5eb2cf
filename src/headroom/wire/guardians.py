"""The pods that we make: a guardian keeps a hold's room, a latch stands in for a handover, a fence
keeps strangers off a node.

All are a pause container with as few rights as there are: no token, no volumes, restricted
security context, next to no grace. A guardian takes its scheduling fields from the hold's template
and belongs to the object that asked for it; a latch is gated, so nobody ever tries it; a fence asks
for nothing and is born on its node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from headroom.core import names
from headroom.core.actions import CreateFence, CreateGuardian, CreateLatch, MoveLatch
from headroom.core.amounts import format_resources
from headroom.core.derived_names import label_value, shape_of
from headroom.core.fences import HOSTNAME, may_pass_fence
from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.latches import claims_text
from headroom.core.objects import HostPort, Key, OwnerReference, Parent
from headroom.core.resources import EMPTY, Resources
from headroom.wire.amounts import overhead_of, requirements_json
from headroom.wire.kinds import PODS, Json
from headroom.wire.limits import limits_of
from headroom.wire.namespaces import seen_from
from headroom.wire.node_pin import away_from, next_to, pinned_to

PAUSE_IMAGE = "registry.k8s.io/pause:3.10"
CONTAINER = "pause"
SLEEP_S = 3  # Whoever ends a Locked guardian leaves us this time; we ourselves grant none.
LONGEST_GRACE_S = SLEEP_S + 1
_GRACE_S = 1  # of a Locked guardian that does not sleep
_PAUSE_USER = 65535
_CARRIED = ("nodeSelector", "tolerations", "topologySpreadConstraints")
_NOTHING = {"cpu": "0", "memory": "0"}  # Said in words, so that no LimitRange adds a default.
_RUNTIME = ("runtimeClassName", "overhead")


def guardian_json(action: CreateGuardian, image: str = PAUSE_IMAGE) -> Json:
    """The pod that keeps a hold's room, as it is sent to the API server."""
    hold = action.hold
    template = _template(hold)
    spec = _mapping(template.get("spec"))
    made = {
        **pause_spec(_class_of(hold)),
        "terminationGracePeriodSeconds": _grace(action),
        **_placing(action, spec),
        "readinessGates": [{"conditionType": names.READINESS_GATE}],
        **({"schedulingGates": [{"name": names.LATCH_GATE}]} if action.gated else {}),
        "containers": [_guardian_container(action, spec, image)],
    }
    return PODS.new(_guardian_metadata(action, _mapping(template.get("metadata"))), spec=made)


def _grace(action: CreateGuardian) -> int:
    if action.hold.mode == PREEMPTIBLE:
        return 0
    return LONGEST_GRACE_S if _sleeps(action) else _GRACE_S


def _sleeps(action: CreateGuardian) -> bool:
    """Whether the kubelet lets a guardian keep its room for a while when somebody ends it.

    Not one that a dialect gives a class of its own: it is there to be preempted. Not one with host
    ports: the container outlives its pod by this time, and its ports would be in an owner's way.
    """
    template = action.hold.template
    taken = action.hold.mode == PREEMPTIBLE or bool(template.priority_class)
    return not taken and not _ports(action)


def _class_of(hold: Hold) -> str:
    own = names.PREEMPTIBLE_CLASS if hold.mode == PREEMPTIBLE else names.LOCKED_CLASS
    return hold.template.priority_class or own


def latch_json(action: CreateLatch, image: str = PAUSE_IMAGE) -> Json:
    """The gated pod that keeps a node's room in kube-scheduler's eyes during a handover."""
    spec = {
        **pause_spec(names.LOCKED_CLASS),
        "schedulerName": names.DEFAULT_SCHEDULER_NAME,
        "schedulingGates": [{"name": names.LATCH_GATE}],
        "containers": [container_json(image, action.requests) | _asking(action.requests)],
    }
    return PODS.new({**_named(action.key), **latch_metadata(action)}, spec=spec)


def _named(key: Key) -> Json:
    return {"name": key.name, "namespace": key.namespace}


def _asking(requests: Resources) -> Json:
    """What a container that asks for nothing says all the same."""
    return {} if requests else {"resources": {"requests": _NOTHING}}


def latch_metadata(action: CreateLatch | MoveLatch) -> Json:
    """What a latch says of itself: for whom it stands, and where."""
    annotations: dict[str, str | None] = {
        names.PARENT_ANNOTATION: action.parent.whole,
        names.NODE_ANNOTATION: action.node,
    }
    if action.parent.slot:
        annotations[names.SLOT_ANNOTATION] = action.parent.slot
    elif isinstance(action, MoveLatch):  # It may have stood for a slot before.
        annotations[names.SLOT_ANNOTATION] = None
    if action.claims:
        annotations[names.CLAIMS_ANNOTATION] = claims_text(action.claims)
    elif isinstance(action, MoveLatch):
        annotations[names.CLAIMS_ANNOTATION] = None
    if isinstance(action, MoveLatch):
        annotations[names.USERS_ANNOTATION] = None
    elif action.users:
        annotations[names.USERS_ANNOTATION] = " ".join(action.users)
    return {"labels": _labels(names.ROLE_LATCH, action.parent), "annotations": annotations}


def fence_json(action: CreateFence, image: str = PAUSE_IMAGE) -> Json:
    """The pod that keeps every pod without our label off its node; `core.fences` says the same."""
    parent = action.hold.parent
    spec = _mapping(_template(action.hold).get("spec"))
    told = {names.SAFE_TO_EVICT: "true", names.PARENT_ANNOTATION: parent.whole}
    strangers = {
        "labelSelector": {
            "matchExpressions": [{"key": names.PASS_LABEL, "operator": "DoesNotExist"}]
        },
        "namespaceSelector": {},
        "topologyKey": HOSTNAME,
    }
    metadata = {
        **_named(action.key),
        # It keeps no room: not what `for` finds.
        "labels": {names.ROLE_LABEL: names.ROLE_FENCE, **_on_behalf(action.hold)},
        "annotations": {**told, **({names.SLOT_ANNOTATION: parent.slot} if parent.slot else {})},
        "ownerReferences": _owners(action.hold),
    }
    made = {
        **pause_spec(names.LOCKED_CLASS),
        "nodeName": action.node,
        **({"tolerations": spec["tolerations"]} if spec.get("tolerations") else {}),
        "affinity": {
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [strangers]}
        },
        "containers": [container_json(image, EMPTY) | _asking(EMPTY)],
    }
    return PODS.new(metadata, spec=made)


def _template(hold: Hold) -> Json:
    return _mapping(msgspec.json.decode(hold.template.raw or "{}"))


def _mapping(value: object) -> Json:
    """A JSON object, or an empty one for anything else that a template may carry there."""
    return value if isinstance(value, dict) else {}


def _guardian_metadata(action: CreateGuardian, own: Json) -> Json:
    parent = action.hold.parent
    return {
        "name": action.name,
        "namespace": action.hold.guardian_namespace,
        "labels": {
            **_foreign(own.get("labels")),
            **dict(action.hold.template.labels),
            **_labels(names.ROLE_GUARDIAN, parent),
            **_on_behalf(action.hold),
            **({names.PASS_LABEL: "true"} if may_pass_fence(action) else {}),
        },
        "annotations": {
            names.SAFE_TO_EVICT: "true",
            **_foreign(own.get("annotations")),
            names.PARENT_ANNOTATION: parent.whole,
            names.SHAPE_ANNOTATION: shape_of(action.hold),
            **({names.SLOT_ANNOTATION: parent.slot} if parent.slot else {}),
        },
        "ownerReferences": [*_owners(action.hold), *_owned_too(action.hold)],
    }


def _foreign(given: object) -> Json:
    """What a template says in other words than ours: those are the operator's own to write."""
    return {
        key: value
        for key, value in _mapping(given).items()
        if not key.startswith(f"{names.GROUP}/")
    }


def owned_by(
    owner: Parent | OwnerReference, *, controller: bool = True, blocks: bool = False
) -> Json:
    """The reference to an object that what we make belongs to."""
    return {
        "apiVersion": owner.api_version,
        "kind": owner.kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": controller,
        "blockOwnerDeletion": blocks,
    }


def _owners(hold: Hold) -> list[Json]:
    """The controller of a pod of ours, and the object that asked for it."""
    first = hold.template.controller
    if first is None:
        return [owned_by(hold.parent)]
    return [owned_by(first), owned_by(hold.parent, controller=False)]


def _on_behalf(hold: Hold) -> dict[str, str]:
    """For which namespace a pod of ours stands that does not live there."""
    return {names.NAMESPACE_LABEL: hold.home} if hold.lodging else {}


def _owned_too(hold: Hold) -> list[Json]:
    also = hold.template.owner
    return [] if also is None else [owned_by(also, controller=False)]


def _labels(role: str, parent: Parent) -> dict[str, str]:
    return {names.ROLE_LABEL: role, names.FOR_LABEL: label_value(parent.name)}


def pause_spec(priority_class: str) -> Json:
    """What every pod of ours has in common: it preempts nobody, whatever its class.

    The API server refuses a pod whose policy is not that of its class, so a class that preempts
    makes no guardian at all.
    """
    return {
        "priorityClassName": priority_class,
        "preemptionPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _PAUSE_USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


def _placing(action: CreateGuardian, spec: Json) -> Json:
    """The template's scheduling fields; the wished-for node by affinity, a bound one by name."""
    placing: Json = {field: spec[field] for field in _CARRIED if spec.get(field)}
    # A template copied from an owner may name our own scheduler; guardians leave placing to
    # kube-scheduler, which judges volumes, spread and devices as well.
    named = spec.get("schedulerName")
    placing["schedulerName"] = (
        named if named != names.SCHEDULER_NAME and named else names.DEFAULT_SCHEDULER_NAME
    )
    if _carries_overhead(action, spec):
        placing |= {field: spec[field] for field in _RUNTIME if spec.get(field)}
    affinity = _mapping(spec.get("affinity"))
    if action.hold.lodging:
        affinity = seen_from(action.hold.lodging, action.hold.home, affinity)
    if action.hold.template.beside is not None:
        affinity = next_to(action.hold.template.beside, affinity)
    if action.hold.template.apart is not None:
        affinity = away_from(action.hold.template.apart, affinity)
    if action.bound:
        placing["nodeName"] = action.node
    elif node := action.node or action.hold.template.node:
        affinity = pinned_to(node, affinity)
    if affinity:
        placing["affinity"] = affinity
    return placing


def _carries_overhead(action: CreateGuardian, spec: Json) -> bool:
    """Whether the template's overhead is known and part of what the guardian is to keep.

    A runtime class whose overhead the template does not state would make the guardian larger than
    it should be, because the API server adds it. Overhead without a class it refuses: the container
    asks for that room itself.
    """
    overhead = overhead_of(spec)
    named = bool(spec.get("runtimeClassName"))
    return named and bool(overhead) and overhead.fits_in(action.requests)


def _guardian_container(action: CreateGuardian, spec: Json, image: str) -> Json:
    requests = action.requests
    if _carries_overhead(action, spec):
        requests = requests.minus(overhead_of(spec))
    container = container_json(image, requests)
    limits = format_resources(limits_of(spec, action.hold.template.pod.requests, requests))
    if limits:
        container["resources"]["limits"] = container["resources"].get("limits", {}) | limits
    if ports := _ports(action):
        container["ports"] = [port_json(port) for port in ports]
    if _sleeps(action):
        container["lifecycle"] = {"preStop": {"sleep": {"seconds": SLEEP_S}}}
    return container


def _ports(action: CreateGuardian) -> tuple[HostPort, ...]:
    return action.hold.template.pod.placement.ports if action.ports is None else action.ports


def port_json(port: HostPort) -> Json:
    """A host port of a template, as a container of ours asks for it."""
    known: Json = {
        "containerPort": port.port,
        "hostPort": port.port,
        "protocol": port.protocol,
    }
    return known if port.ip == "0.0.0.0" else {**known, "hostIP": port.ip}


def container_json(image: str, requests: Resources) -> Json:
    """The one container of everything that we make: it pauses, and has next to no rights."""
    container: Json = {
        "name": CONTAINER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }
    requirements: Mapping[str, Any] = requirements_json(requests)
    return {**container, "resources": requirements} if requirements else container
