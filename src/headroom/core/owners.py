"""Who may claim a hold, and how to find the few holds that could concern a pod.

Rules of a hold are ORed, the parts of a rule ANDed, an absent part matches everything. Each rule
also has *index keys*: every pod that matches the rule carries at least one of them. They serve both
as the engine's lookup (so that a pod is not compared with every hold) and as the keys of the claim
index that the admission policy reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headroom.core.holds import ControllerMatch, Hold, ObjectMatch, OwnerRule, Problem
from headroom.core.objects import Pod
from headroom.core.selection import matches

ANY_POD = "*"


def owner_refusal(hold: Hold, pod: Pod, across_namespaces: bool = False) -> str | None:
    """Say why this pod may not claim this hold, or None when it may.

    A pod of another namespace needs both: that they are allowed, and a rule that names its own.
    """
    home, there = hold.parent.namespace, pod.key.namespace
    rules = hold.owners
    if not rules:
        return "the hold names no owners"
    if home not in ("", there):
        rules = tuple(rule for rule in rules if across_namespaces and _names(rule, there))
        if not rules:
            return f"the pod is in namespace {there}, the hold is for {home}"
    refusals = [_rule_refusal(rule, pod) for rule in rules]
    if None in refusals:
        return None
    return "; ".join(dict.fromkeys(refusal for refusal in refusals if refusal))


def _rule_refusal(rule: OwnerRule, pod: Pod) -> str | None:
    if rule.object is not None and not _is_object(rule.object, pod):
        return f"it is for the pod {_named(rule.object)}"
    if rule.controller is not None and not _has_controller(rule.controller, pod):
        return f"it is for pods that belong to {_belonging(rule.controller)}"
    if rule.selector is not None and not matches(rule.selector, pod.labels):
        return "the pod's labels do not match the owners' labelSelector"
    if rule.priority_at_least is not None and pod.priority < rule.priority_at_least:
        return f"the pod's priority {pod.priority} is below {rule.priority_at_least}"
    return None


def _names(rule: OwnerRule, namespace: str) -> bool:
    parts = (rule.object, rule.controller)
    return any(part is not None and part.namespace == namespace for part in parts)


def _named(wanted: ObjectMatch) -> str:
    name = wanted.name or (f"of uid {wanted.uid}" if wanted.uid else "")
    return " ".join(
        part for part in (name, wanted.namespace and f"in namespace {wanted.namespace}") if part
    )


def _belonging(wanted: ControllerMatch) -> str:
    kind = wanted.kind or ("something" if not wanted.name else "")
    return " ".join(part for part in (kind, wanted.name or wanted.uid) if part)


def judged(hold: Hold, across_namespaces: bool) -> Hold:
    """The hold with a problem more for each rule that names a namespace it may not serve."""
    if across_namespaces or not hold.parent.namespace:
        return hold
    foreign = tuple(_foreign(hold))
    return replace(hold, problems=hold.problems + foreign) if foreign else hold


def _foreign(hold: Hold) -> Iterator[Problem]:
    home = hold.parent.namespace
    for index, rule in enumerate(hold.owners):
        for name, part in (("object", rule.object), ("controller", rule.controller)):
            if part is not None and part.namespace not in ("", home):
                yield Problem(
                    f"spec.owners[{index}].{name}.namespace",
                    f"can never match: owners are pods of this hold's namespace, {home}, "
                    "unless the operator runs with --allow-cross-namespace-owners",
                )


def _is_object(wanted: ObjectMatch, pod: Pod) -> bool:
    return (
        wanted.name in ("", pod.key.name)
        and wanted.namespace in ("", pod.key.namespace)
        and wanted.uid in ("", pod.uid)
    )


def _has_controller(wanted: ControllerMatch, pod: Pod) -> bool:
    if wanted.namespace not in ("", pod.key.namespace):
        return False
    return any(
        wanted.name in ("", owner.name)
        and wanted.kind in ("", owner.kind)
        and wanted.api_version in ("", owner.api_version)
        and wanted.uid in ("", owner.uid)
        and wanted.controller in (None, owner.controller)
        for owner in pod.owners
    )


def index_keys(rule: OwnerRule) -> tuple[str, ...]:
    """Keys of which every pod that matches the rule carries at least one; as few as can be."""
    if rule.object is not None and rule.object.name:
        return (f"name:{rule.object.name}",)
    if rule.controller is not None and rule.controller.name:
        return (f"controller:{rule.controller.name}",)
    requirements = rule.selector.requirements if rule.selector is not None else ()
    listed = [need for need in requirements if need.operator == "In" and need.values]
    if listed:
        need = min(listed, key=lambda need: (len(need.values), need.key, need.values))
        return tuple(f"label:{need.key}={value}" for value in sorted(need.values))
    present = sorted(need.key for need in requirements if need.operator == "Exists")
    return (f"exists:{present[0]}",) if present else (ANY_POD,)


def hold_keys(hold: Hold) -> tuple[str, ...]:
    """The index keys of all of a hold's rules, each once."""
    return tuple(dict.fromkeys(key for rule in hold.owners for key in index_keys(rule)))


def pod_keys(pod: Pod) -> tuple[str, ...]:
    """Every index key that this pod carries."""
    labels = pod.labels.items()
    return (
        ANY_POD,
        f"name:{pod.key.name}",
        *(f"controller:{owner.name}" for owner in pod.owners),
        *(f"label:{key}={value}" for key, value in labels),
        *(f"exists:{key}" for key, _ in labels),
    )
