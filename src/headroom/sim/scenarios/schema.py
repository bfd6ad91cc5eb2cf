"""The fields of a Scenario document, in the notation of `wire.schema`, and rules between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.wire.schema.notation import Catalogue, Field, SchemaRule, of

API_VERSION = "sim.headroom.dev/v1alpha1"
KIND = "Scenario"
ACTS = (
    "apply",
    "objects",
    "delete",
    "patch",
    "scale",
    "finish",
    "drain",
    "kubelet",
    "operator",
    "expect",
)
_COMPANIONS = {"with": "patch", "replicas": "scale", "phase": "finish", "state": "kubelet"}

_TYPES: dict[str, dict[str, Field]] = {
    "Scenario": {
        "apiVersion": of("string!"),
        "kind": of("string!"),
        "metadata": of("ObjectMeta"),
        "spec": of("ScenarioSpec"),
    },
    "ScenarioSpec": {
        "start": of("time", "The virtual wall clock at the start."),
        "until": of(
            "duration", "How long the run takes; absent: until nothing happens, at most 1h."
        ),
        "seed": of("int64", "The seed of all random choices."),
        "pools": of("[]SimPool", "Nodes of one shape each."),
        "autoscaler": of("SimAutoscaler", "Adds nodes of pools that have a max."),
        "steps": of("[]SimStep", "What happens when."),
        "arrivals": of("[]SimArrivals", "Pods made from traces."),
    },
    "SimPool": {
        "name": of("string!", "Nodes are called NAME-0, NAME-1, …", minLength=1, maxLength=50),
        "count": of("int32", "Nodes at the start.", minimum=0, maximum=20_000),
        "max": of("int32", "The autoscaler adds no more nodes.", minimum=0, maximum=20_000),
        "cpu": of("quantity"),
        "memory": of("quantity"),
        "pods": of("intorstring", "The most pods on a node."),
        "resources": of("{}quantity", "Further resources of a node, such as example.com/gpu."),
        "labels": of("{}string"),
        "taints": of("[]Taint"),
        "price": of("number", "The price of a node per hour.", minimum=0),
        "bootDelay": of("duration", "From the autoscaler's decision until the node is ready."),
    },
    "SimAutoscaler": {
        "enabled": of("bool"),
        "scaleDownAfter": of("duration", "A node that was not needed for this time is removed."),
        "profile": of("=ClusterAutoscaler|Karpenter", "Which autoscaler it imitates."),
        "priorityCutoff": of("int32", "Pods below it neither request nodes nor keep them."),
    },
    "SimArrivals": {
        "trace": of("string!", "A CSV file, plain or gzip, relative to the scenario's."),
        "name": of("string", "Pods are called NAME-0, NAME-1, …", maxLength=40),
        "template": of("PodTemplateSpec", "The template of the pods."),
        "duration": of("duration", "How long they run, unless the trace says so."),
        "scale": of("number", "A factor for the number of pods.", minimum=0),
        "skip": of("duration", "How much of the beginning of the trace is skipped."),
    },
    "SimStep": {
        "at": of("duration!", "When, in virtual time since the start."),
        "apply": of("[]string", "Files, relative to the scenario's."),
        "objects": of("[]object", "Objects, written here."),
        "delete": of("SimTarget"),
        "patch": of("SimTarget"),
        "with": of("object", "A JSON merge patch."),
        "scale": of("SimTarget"),
        "replicas": of("int32", minimum=0),
        "finish": of("SimTarget"),
        "phase": of("=Succeeded|Failed"),
        "drain": of("string", "A node's name."),
        "kubelet": of("string", "A node's name."),
        "state": of("=stopped|running"),
        "operator": of("=stopped|running|killed"),
        "expect": of("SimExpectation"),
    },
    "SimTarget": {
        "kind": of("string!"),
        "namespace": of("string"),
        "name": of("string!"),
    },
    "SimExpectation": {
        "kind": of("string!"),
        "namespace": of("string"),
        "name": of("string"),
        "labelSelector": of("string", "As kubectl reads it: app=web,tier in (a,b)."),
        "where": of("object", "Fields by path, with the value each must have."),
        "count": of("int32", "How many objects; absent: at least one.", minimum=0),
    },
}


def _one_act(step: Mapping[str, Any]) -> bool:
    return sum(1 for act in ACTS if act in step) == 1


def _companion(name: str, act: str) -> tuple[SchemaRule, SchemaRule]:
    """A field that belongs to one kind of step: required there, refused elsewhere."""
    return (
        SchemaRule("", f"{act} needs `{name}` too", lambda step: act not in step or name in step),
        SchemaRule(
            "", f"only {act} takes `{name}`", lambda step: name not in step or act in step, name
        ),
    )


_RULES: dict[str, tuple[SchemaRule, ...]] = {
    "SimStep": (
        SchemaRule("", f"a step does exactly one of {', '.join(ACTS)}", _one_act),
        *(
            rule
            for name, act in _COMPANIONS.items()
            for rule in _companion(name, act)
            if name != "phase" or rule.at
        ),
    ),
    "SimPool": (
        SchemaRule(
            "",
            "max is less than count",
            lambda pool: int(pool.get("max", pool.get("count", 0))) >= int(pool.get("count", 0)),
            "max",
        ),
    ),
}


def with_scenarios(catalogue: Catalogue) -> Catalogue:
    """Every kind that a file for the simulator may contain."""
    return catalogue.extended(_TYPES, {f"{API_VERSION}/{KIND}": KIND}, _RULES)
