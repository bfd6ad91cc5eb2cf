"""Owner rules of a hold from their JSON, and what is wrong with them.

Besides what cannot be read, rules that can never match are told: a hold that nobody can claim
would keep its room from everyone, and its author would not know why. Beside a rule that can match
they are remarks: rules are ORed, so the others are served. Whether a rule may name
another namespace is the operator's policy, so `core.owners` judges that.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Raw

from headroom.core.holds import ControllerMatch, ObjectMatch, OwnerRule
from headroom.core.objects import LabelSelector
from headroom.core.selector_validation import selector_refusal
from headroom.wire.objects.codec import COUNT, TEXT, Codec, Part
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.reader import Reader, spelling
from headroom.wire.objects.selectors import SELECTOR

_IN_VAIN = "can never match"
_HIGHEST_PRIORITY = 2_000_001_000  # system-node-critical
_LOWEST_PRIORITY = -(2**31)
# Their pods belong to another object, which they own in turn.
_NOT_DIRECT = {"Deployment": "ReplicaSets", "CronJob": "Jobs"}


class _PodRule(NamedTuple):
    """A rule about the pod itself, with what it says of the pod's kind."""

    match: ObjectMatch
    kind: str
    api_version: str


class _Owner(NamedTuple):
    object: _PodRule | None
    controller: ControllerMatch | None
    selector: LabelSelector | None
    priority_at_least: int | None


_CONTROLLER = Codec(
    ControllerMatch,
    api_version=TEXT,
    kind=TEXT,
    name=TEXT,
    uid=TEXT,
    namespace=TEXT,
    controller=Part(bool, None),
)
_OWNER = Codec(
    _Owner,
    object=Codec(
        lambda kind, api_version, **match: _PodRule(ObjectMatch(**match), kind, api_version),
        kind=TEXT,
        api_version=TEXT,
        name=TEXT,
        namespace=TEXT,
        uid=TEXT,
    ).part(),
    controller=_CONTROLLER.part(),
    selector=SELECTOR.named("labelSelector"),
    priority_at_least=COUNT,
)
_read_owners = Reader(list[Raw])
_read_owner = Reader(_OWNER.shape)


def owner_rules(raw: Raw, findings: Findings, remarks: Findings) -> tuple[OwnerRule, ...]:
    """Read `spec.owners` of a hold, taking down what is wrong; rules in vain are left out."""
    owners = findings.read(_read_owners, raw, "spec.owners")
    if owners is not None and not owners:
        findings.add("spec.owners", "is empty, so no pod could claim this; add at least one rule")
    rules: list[OwnerRule] = []
    vain = Findings()
    for index, each in enumerate(owners or ()):
        path = f"spec.owners[{index}]"
        read = findings.read(_read_owner, each, path)
        if read is not None:
            owner = _OWNER.value(read)
            rule = _rule(owner, index)
            if not _is_vain(rule, owner, path, findings, vain):
                rules.append(rule)
        elif not spelling(each):
            findings.add(path, "is empty; say who may claim this")
    (remarks if rules else findings).extend(vain.problems)
    return tuple(rules)


def _is_vain(rule: OwnerRule, owner: _Owner, path: str, findings: Findings, vain: Findings) -> bool:
    """Whether a rule is well formed and can never match; what is wrong with it is taken down."""
    own = Findings()
    _check_rule(rule, owner, path, own)
    in_vain = [problem for problem in own.problems if problem.message.startswith(_IN_VAIN)]
    wrong = [problem for problem in own.problems if problem not in in_vain]
    findings.extend(wrong)
    vain.extend(in_vain)
    return bool(in_vain) and not wrong


def _rule(owner: _Owner, index: int) -> OwnerRule:
    pod = owner.object.match if owner.object is not None else None
    return OwnerRule(pod, owner.controller, owner.selector, owner.priority_at_least, index=index)


def _check_rule(rule: OwnerRule, owner: _Owner, path: str, findings: Findings) -> None:
    if rule == OwnerRule():
        findings.add(path, "is empty; set object, controller, labelSelector or priorityAtLeast")
    if owner.object is not None:
        _check_object(owner.object, f"{path}.object", findings)
    if rule.controller is not None:
        _check_controller(rule.controller, f"{path}.controller", findings)
    if rule.selector is not None:
        _check_selector(rule.selector, f"{path}.labelSelector", findings)
    if not _LOWEST_PRIORITY <= (rule.priority_at_least or 0) <= _HIGHEST_PRIORITY:
        findings.add(f"{path}.priorityAtLeast", f"{_IN_VAIN}: no pod can have such a priority")


def _check_object(pod: _PodRule, path: str, findings: Findings) -> None:
    if pod.kind not in ("", "Pod"):
        findings.add(
            f"{path}.kind",
            f"can never match: owners are pods, not {pod.kind}; use controller or labelSelector",
        )
    if pod.api_version not in ("", "v1"):
        findings.add(f"{path}.apiVersion", "can never match: pods are of apiVersion v1")
    if pod.match == ObjectMatch():
        findings.add(path, "is empty; set name, namespace or uid")


def _check_controller(match: ControllerMatch, path: str, findings: Findings) -> None:
    owned = _NOT_DIRECT.get(match.kind)
    if owned is not None:
        findings.add(
            f"{path}.kind",
            f"can never match: pods of a {match.kind} belong to its {owned}; use labelSelector",
        )
    if match == ControllerMatch():
        findings.add(path, "is empty; set kind, name or uid")


def _check_selector(selector: LabelSelector, path: str, findings: Findings) -> None:
    refusal = selector_refusal(selector)
    if refusal is not None:
        findings.add(path, refusal)
        return
    contradiction = _contradiction(selector)
    if contradiction is not None:
        findings.add(path, f"can never match: {contradiction}")


def _contradiction(selector: LabelSelector) -> str | None:
    """Say which label would have to be two things at once, if one would."""
    for key in sorted({need.key for need in selector.requirements}):
        needs = [need for need in selector.requirements if need.key == key]
        absent = any(need.operator == "DoesNotExist" for need in needs)
        listed = [set(need.values) for need in needs if need.operator == "In"]
        if absent and (listed or any(need.operator == "Exists" for need in needs)):
            return f"label {key} would have to be there and not be there"
        refused = {value for need in needs if need.operator == "NotIn" for value in need.values}
        if listed and not set.intersection(*listed) - refused:
            return f"no value of label {key} fits all of its requirements"
    return None
