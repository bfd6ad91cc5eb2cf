"""Decide who may claim a hold, and find the few holds that could match a pod.

A pod must match one rule of a hold, and all parts of this rule; an absent part matches everything.
Each rule also has *index keys*: every pod that matches the rule has at least one of them. The
engine looks pods up by these keys, so it does not compare a pod with every hold. The claim index
that the admission policy reads has *gate keys*. They are the same, except that pods that ask by
annotation (`RequestRule`) are recognized by the annotation alone, because an index with the name
of each ticket would grow too large.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TypeVar

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import ControllerMatch, Hold, ObjectMatch, OwnerRule, Problem
from headroom.core.objects import Pod
from headroom.core.selection import matches

ANY_POD = "*"
ANY_NAMESPACE = "*"  # in an owner rule
PRIORITY = "priority:"  # begins a gate key of a rule that is about nothing else
EVERYWHERE = ""  # a namespace that stands for all of them
_Held = TypeVar("_Held", Hold, Headroom)
_OTHERS_WORKLOADS = Problem(
    "spec.slot.auto.scope.namespaceSelector",
    "needs the operator's --allow-cross-namespace-owners: without it a Headroom chooses among the "
    "workloads of its own namespace; leave namespaceSelector out",
)


def owner_refusal(hold: Hold, pod: Pod, across_namespaces: bool = False) -> str | None:
    """Why this pod may not claim this hold, or None if it may.

    A pod of another namespace needs two things: the setting that allows it, and a rule that names
    its namespace. A cluster-scoped object was created by an administrator, so a rule that names the
    namespace is enough; without one, labels match the pods of its guardian's namespace.
    """
    home, there = hold.home, pod.key.namespace
    rules = hold.owners
    if not rules:
        return "the hold names no owners"
    if home != there:
        rules = tuple(rule for rule in rules if _reaches(hold, rule, there, across_namespaces))
        if not rules:
            return f"the pod is in namespace {there}, the hold is for {home}"
    refusals = [_rule_refusal(rule, pod) for rule in rules]
    if None in refusals:
        return None
    return "; ".join(dict.fromkeys(refusal for refusal in refusals if refusal))


def has_right(headroom: Headroom, pod: Pod, across_namespaces: bool) -> bool:
    """Whether one of a headroom's rules matches this pod."""
    there = pod.key.namespace
    return any(
        _rule_refusal(rule, pod) is None
        for rule in headroom.owners
        if there == headroom.parent.namespace or _reaches(headroom, rule, there, across_namespaces)
    )


def _reaches(hold: Hold | Headroom, rule: OwnerRule, there: str, across_namespaces: bool) -> bool:
    if hold.parent.namespace:
        return across_namespaces and _names(rule, there)
    return across_namespaces or rule.asks is not None or _names(rule, there)


def is_kept_for(hold: Hold, namespace: str) -> bool:
    """Whether a hold is room of this namespace: it is there, and a rule can match its pods.

    An object without a namespace may keep room for several by naming them.
    """
    if hold.parent.namespace not in ("", namespace):
        return False
    return any(
        namespace in named if named and ANY_NAMESPACE not in named else namespace == hold.home
        for named in map(_named_by, hold.owners)
    )


def _named_by(rule: OwnerRule) -> tuple[str, ...]:
    parts = (rule.object, rule.controller)
    return tuple(part.namespace for part in parts if part is not None and part.namespace)


def reach(hold: Hold | Headroom, across_namespaces: bool) -> tuple[str, ...]:
    """The namespaces in which a hold may find an owner; `EVERYWHERE` stands for all."""
    home = hold.parent.namespace
    if home and not across_namespaces:
        return (home,)
    if not home and (across_namespaces or any(rule.asks is not None for rule in hold.owners)):
        return (EVERYWHERE,)
    parts = (part for rule in hold.owners for part in (rule.object, rule.controller))
    named = {part.namespace: None for part in parts if part is not None and part.namespace}
    if ANY_NAMESPACE in named:
        return (EVERYWHERE,)
    own = hold.home if isinstance(hold, Hold) else home
    return tuple({own: None, **named})


def _rule_refusal(rule: OwnerRule, pod: Pod) -> str | None:
    if rule.object is not None and not _is_object(rule.object, pod):
        return f"it is for the pod {_named(rule.object)}"
    if rule.controller is not None and not _has_controller(rule.controller, pod):
        return f"it is for pods that belong to {_belonging(rule.controller)}"
    if rule.selector is not None and not matches(rule.selector, pod.labels):
        return "the pod's labels do not match the owners' labelSelector"
    if rule.priority_at_least is not None and pod.priority < rule.priority_at_least:
        return f"the pod's priority {pod.priority} is below {rule.priority_at_least}"
    if rule.asks is not None:
        return rule.asks.refusal(pod.annotations)
    return None


def _names(rule: OwnerRule, namespace: str) -> bool:
    named = _named_by(rule)
    return namespace in named or ANY_NAMESPACE in named


def _named(wanted: ObjectMatch) -> str:
    name = wanted.name or (f"of uid {wanted.uid}" if wanted.uid else "")
    return " ".join(
        part for part in (name, wanted.namespace and f"in namespace {wanted.namespace}") if part
    )


def _belonging(wanted: ControllerMatch) -> str:
    kind = wanted.kind or ("something" if not wanted.name else "")
    return " ".join(part for part in (kind, wanted.name or wanted.uid) if part)


def judged(held: _Held, across_namespaces: bool) -> _Held:
    """The hold or headroom without the rules that can never match, and with a remark on each.

    If no other rule is left, the remarks become problems: no pod could claim it.
    """
    if across_namespaces or not held.parent.namespace:
        return held
    if isinstance(held, Headroom) and _chooses_elsewhere(held):
        return replace(held, problems=(*held.problems, _OTHERS_WORKLOADS))
    home = held.parent.namespace
    told = [tuple(_foreign(rule, place, home)) for place, rule in enumerate(held.owners)]
    foreign = tuple(problem for problems in told for problem in problems)
    if not foreign:
        return held
    others = tuple(rule for rule, wrong in zip(held.owners, told, strict=True) if not wrong)
    if not others:
        return replace(held, problems=held.problems + foreign)
    return replace(held, owners=others, remarks=held.remarks + foreign)


def _chooses_elsewhere(headroom: Headroom) -> bool:
    auto = headroom.slot.auto
    return auto is not None and auto.namespaces is not None


def _foreign(rule: OwnerRule, place: int, home: str) -> Iterator[Problem]:
    place = rule.index if rule.index >= 0 else place
    for name, part in (("object", rule.object), ("controller", rule.controller)):
        if part is not None and part.namespace not in ("", home):
            yield Problem(
                f"spec.owners[{place}].{name}.namespace",
                f"can never match: owners are pods of this hold's namespace, {home}, "
                "unless the operator runs with --allow-cross-namespace-owners",
            )


def _is_object(wanted: ObjectMatch, pod: Pod) -> bool:
    return (
        wanted.name in ("", pod.key.name)
        and wanted.namespace in ("", ANY_NAMESPACE, pod.key.namespace)
        and wanted.uid in ("", pod.uid)
    )


def _has_controller(wanted: ControllerMatch, pod: Pod) -> bool:
    if wanted.namespace not in ("", ANY_NAMESPACE, pod.key.namespace):
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
    if rule.asks is not None:
        return rule.asks.keys()
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


def rule_keys(wish: Hold | Headroom) -> tuple[str, ...]:
    """The index keys of all rules of a hold or headroom, each once."""
    return tuple(dict.fromkeys(key for rule in wish.owners for key in index_keys(rule)))


def gate_keys(hold: Hold, there: str, across_namespaces: bool) -> tuple[str, ...]:
    """The keys for the claim index of a namespace, each once: of the rules that reach it."""
    keys = (
        _gate_keys(rule)
        for rule in hold.owners
        if there == hold.home or _reaches(hold, rule, there, across_namespaces)
    )
    return tuple(dict.fromkeys(key for some in keys for key in some))


def _gate_keys(rule: OwnerRule) -> tuple[str, ...]:
    if rule.asks is not None:
        return tuple(map(asking_key, rule.asks.annotations))
    keys = index_keys(rule)
    if keys == (ANY_POD,) and rule.priority_at_least is not None:
        return (f"{PRIORITY}{rule.priority_at_least}",)
    return keys


def asking_key(annotation: str) -> str:
    """The gate key of pods that ask by this annotation, whatever there is to be had."""
    return f"asks:{annotation}"


def lowest_priority(keys: Collection[str]) -> int | None:
    """The lowest priority among gate keys that are about nothing else; None without one."""
    found = (int(key.removeprefix(PRIORITY)) for key in keys if key.startswith(PRIORITY))
    return min(found, default=None)


def pod_keys(pod: Pod, asked: bool = True) -> tuple[str, ...]:
    """Every index key that this pod carries; those by which it asks for a hold only if `asked`."""
    labels = pod.labels.items()
    return (
        ANY_POD,
        f"name:{pod.key.name}",
        *[f"controller:{owner.name}" for owner in pod.owners],
        *[f"label:{key}={value}" for key, value in labels],
        *[f"exists:{key}" for key, _ in labels],
        *(pod.requested if asked else ()),
    )
