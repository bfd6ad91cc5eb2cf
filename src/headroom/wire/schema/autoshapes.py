"""The fields of automatic shapes: what `slot.auto` asks for, and what `status.auto` answers.

A part of `own`, next to `headrooms`.
"""

from __future__ import annotations

from headroom.core.headrooms.headrooms import MOST_SHAPES, USUAL_TOP
from headroom.wire.schema.notation import Field, of
from headroom.wire.schema.terms import differs, lacks, one_of, rule

_NAME = {"maxLength": 253}
_KINDS = "Deployment|Job|ReplicaSet|StatefulSet"

TYPES: dict[str, dict[str, Field]] = {
    "SlotAuto": {
        "scope": of("AutoScope", "Which workloads to choose from; all of this namespace."),
        "top": of(
            "int32",
            "At most so many of them.",
            default=USUAL_TOP,
            minimum=1,
            maximum=MOST_SHAPES,
        ),
    },
    "AutoScope": {
        "namespaceSelector": of(
            "LabelSelector",
            "Namespaces by their labels, {} for all; absent: this namespace. Needs the operator's "
            "--allow-cross-namespace-owners.",
        ),
        "labelSelector": of("LabelSelector", "Workloads by their own labels; absent: all."),
        "kinds": of(
            f"[]={_KINDS}",
            "Kinds of workload; Deployment, StatefulSet and ReplicaSet.",
            minItems=1,
            maxItems=4,
        ),
    },
    "HeadroomAuto": {
        "candidates": of("int32", "Workloads in scope."),
        "chosen": of(
            "[]AutoShape", "Those whose pods slots are like, the first first.", maxItems=MOST_SHAPES
        ),
    },
    "AutoShape": {
        "kind": of("string!", "Its kind.", maxLength=63),
        "namespace": of("string!", "Its namespace.", **_NAME),
        "name": of("string!", "Its name.", **_NAME),
        "slots": of("int32", "Slots like its pods."),
        "growth": of("number", "Pods that it is expected to grow by."),
        "why": of("string", "What speaks for that.", maxLength=1024),
    },
}

ON_SPEC = (
    rule(
        lacks("slot.auto") | one_of("size.replicas", "size.percent", "size.adaptive"),
        "auto goes with size.replicas, size.percent and size.adaptive only: other sizes have one "
        "shape, which template says",
        at="slot",
    ),
    rule(
        lacks("slot.auto") | differs("slot.chunk", "Node"),
        "chunk: Node holds slots of one shape, and auto has several",
        at="slot",
    ),
    rule(
        lacks("slot.auto") | differs("refill", "Never"),
        "Never goes with template and from only; auto refills",
        at="refill",
    ),
)
