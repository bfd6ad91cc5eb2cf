"""What a Headroom has besides its guardians: a SlotSet, and a DaemonSet without pods.

The SlotSet controls the guardians, for disruption budgets (`core.headrooms.companions`). By the
DaemonSet autoscalers count slots per node on new machines (`core.headrooms.node_overhead`). Its
template asks for what the slots of one node keep, where slots may stand, and for a node whose name
no node has. The DaemonSet controller goes by that name and makes no pod; Karpenter reads only the
labels that a template asks for.
"""

from __future__ import annotations

import msgspec

from headroom.core.actions import CreateSlotSet, WriteOverhead
from headroom.core.headrooms.companions import slot_set_key
from headroom.core.headrooms.node_overhead import NOWHERE, Overhead
from headroom.core.names import GROUP, LOCKED_CLASS, PARENT_ANNOTATION, SHAPE_ANNOTATION
from headroom.core.objects import Key, Parent
from headroom.wire.guardians import container_json, owned_by, pause_spec, port_json
from headroom.wire.installed_kinds import LABELS
from headroom.wire.kinds import DAEMON_SETS, SLOT_SETS, Json
from headroom.wire.node_pin import pinned_to
from headroom.wire.writes import JSON_PATCH, Write

OVERHEAD_LABEL = f"{GROUP}/overhead"  # on no pod: what the DaemonSet would look for


def companion_write(action: WriteOverhead | CreateSlotSet, image: str) -> Write:
    """The request that makes either of them, or gives the DaemonSet another template."""
    return (
        _slot_set(action) if isinstance(action, CreateSlotSet) else _overhead_write(action, image)
    )


def _slot_set(action: CreateSlotSet) -> Write:
    key = slot_set_key(action.parent)
    made = SLOT_SETS.new(_metadata(key, action.parent, {}), spec={"expectedPods": 0})
    return Write("create", SLOT_SETS, key.namespace, "", made)


def _metadata(key: Key, parent: Parent, shape: dict[str, str]) -> Json:
    """The metadata of an object beside the guardians of a Headroom; `shape` is an annotation."""
    return {
        "name": key.name,
        "namespace": key.namespace,
        "labels": dict(LABELS),
        "annotations": {PARENT_ANNOTATION: parent.whole, **shape},
        "ownerReferences": [owned_by(parent)],
    }


def _overhead_write(action: WriteOverhead, image: str) -> Write:
    overhead = action.overhead
    namespace, name = overhead.key.namespace, overhead.key.name
    if not action.uid:
        return Write("create", DAEMON_SETS, namespace, "", _daemon_set(overhead, image))
    shape = f"/metadata/annotations/{SHAPE_ANNOTATION.replace('/', '~1')}"
    body: list[Json] = [
        {"op": "test", "path": "/metadata/uid", "value": action.uid},
        {"op": "replace", "path": "/spec/template", "value": _template(overhead, image)},
        {"op": "add", "path": shape, "value": overhead.shape},
    ]
    return Write("patch", DAEMON_SETS, namespace, name, body, content_type=JSON_PATCH, guarded=True)


def _daemon_set(overhead: Overhead, image: str) -> Json:
    shape = {SHAPE_ANNOTATION: overhead.shape}
    spec = {
        "selector": {"matchLabels": _labels(overhead)},
        "updateStrategy": {"type": "OnDelete"},
        "template": _template(overhead, image),
    }
    return DAEMON_SETS.new(_metadata(overhead.key, overhead.parent, shape), spec=spec)


def _labels(overhead: Overhead) -> dict[str, str]:
    return {OVERHEAD_LABEL: overhead.key.name}


def _template(overhead: Overhead, image: str) -> Json:
    raw = msgspec.json.decode(overhead.template.raw or "{}")
    given = raw.get("spec") if isinstance(raw, dict) else None
    spec: Json = given if isinstance(given, dict) else {}
    affinity = spec.get("affinity")
    by_node = affinity.get("nodeAffinity") if isinstance(affinity, dict) else None
    container = container_json(image, overhead.requests)
    ports = overhead.template.pod.placement.ports
    if ports and overhead.requests:
        container["ports"] = [port_json(port) for port in ports]
    return {
        "metadata": {"labels": _labels(overhead)},
        "spec": {
            **pause_spec(LOCKED_CLASS),
            **{name: spec[name] for name in ("nodeSelector", "tolerations") if spec.get(name)},
            "affinity": pinned_to(NOWHERE, {"nodeAffinity": by_node} if by_node else {}),
            "containers": [container],
        },
    }
