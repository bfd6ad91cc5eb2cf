"""Count how many pods of one shape a namespace's ResourceQuotas still allow.

Placeholders are real pods, so admission charges them. What our own pods use is subtracted from the
used amount; otherwise they would block themselves. `charges` says which quotas a pod counts
against. The rules are those of the quota admission in 1.36. `buffers` divides a namespace's room
among its buffers; other code that creates pods may use this module too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from headroom.core.amounts import format_amount
from headroom.core.objects import Key, Pod, PodTerm
from headroom.core.resources import CPU, EMPTY, MEMORY, PODS, Resources

_REQUESTS = "requests."
_PLAIN = (CPU, MEMORY, "ephemeral-storage")
_COUNTS = ("pods", "count/pods")


@dataclass(frozen=True, slots=True)
class ScopeRule:
    """One scope of a quota; `operator` and `values` only for the scope PriorityClass."""

    name: str
    operator: str = "Exists"
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceQuota:
    """A quota's status: how much it allows and how much of it is used, by its own names."""

    name: str
    hard: Mapping[str, int] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)
    scopes: tuple[ScopeRule, ...] = ()
    namespace: str = ""
    uid: str = ""
    version: str = ""

    @property
    def key(self) -> Key:
        return Key(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class QuotaAllowance:
    """How many pods may be made of those wanted, and the quotas that allow no more, by name."""

    count: int
    limited_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tight:
    """The quota that lets in the fewest pods, and what it is short of, in its own units."""

    count: int
    quota: str
    name: str  # as the quota spells the resource
    hard: int
    others: int  # what is used of it by pods that are not ours
    each: int

    def allows(self, wanted: int) -> str:
        """Say how many of those wanted it lets in, and why."""
        hard, others, each = (self._spelled(some) for some in (self.hard, self.others, self.each))
        numbers = f"{self.name} {hard}, others use {others}, a slot {each}"
        return f"quota {self.quota} allows {self.count} of {wanted} slots: {numbers}"

    def _spelled(self, amount: int) -> str:
        return format_amount(_resource(self.name) or self.name, amount)


def tightest(
    requests: Resources, quotas: Iterable[ResourceQuota], ours: Resources = EMPTY
) -> Tight | None:
    """The quota that lets in the fewest pods of these requests; None where none limits them.

    `ours` is what our own pods use of these quotas now: they are counted among those let in.
    """
    ordered = sorted(quotas, key=lambda each: each.name)
    rooms = (room for quota in ordered for room in _rooms(quota, requests, ours))
    return min(rooms, key=lambda each: each.count, default=None)


def charges(quota: ResourceQuota, pod: Pod, priority_class: str = "") -> bool:
    """Whether a pod counts against a quota: every one of its scopes must cover the pod."""
    return all(_covers(scope, pod, priority_class) for scope in quota.scopes)


def allowance(
    wanted: int, requests: Resources, quotas: Iterable[ResourceQuota], ours: Resources = EMPTY
) -> QuotaAllowance:
    """Hold a number of pods to the quotas that charge them.

    `ours` is what our own pods use of these quotas now, `pods` included: it is counted in `wanted`.
    """
    count, limiting = wanted, []
    for quota in sorted(quotas, key=lambda each: each.name):
        tight = tightest(requests, (quota,), ours)
        if tight is not None and tight.count < wanted:
            limiting.append(quota.name)
            count = min(count, tight.count)
    return QuotaAllowance(count, tuple(limiting))


class Want(NamedTuple):
    """So many pods of these requests, and the quotas that charge them."""

    wanted: int
    requests: Resources
    quotas: Sequence[ResourceQuota]


def in_turn(wants: Iterable[Want], ours: Resources = EMPTY) -> tuple[QuotaAllowance, ...]:
    """Let several take from the same quotas one after the other: what one gets, the next lacks."""
    given: dict[str, Resources] = {}
    answers = []
    for wanted, requests, charging in wants:
        left = [less(quota, given.get(quota.name, EMPTY)) for quota in charging]
        answer = allowance(wanted, requests, left, ours)
        answers.append(answer)
        taken = _charged(requests) * answer.count
        for quota in charging:
            given[quota.name] = given.get(quota.name, EMPTY) + taken
    return tuple(answers)


def less(quota: ResourceQuota, given: Resources) -> ResourceQuota:
    """The quota with this amount subtracted."""
    hard = {
        name: most - given[resource] if (resource := _resource(name)) else most
        for name, most in quota.hard.items()
    }
    return replace(quota, hard=hard)


def _rooms(quota: ResourceQuota, requests: Resources, ours: Resources) -> Iterator[Tight]:
    """How many pods each line of a quota lets in."""
    charged = _charged(requests)
    for name, hard in sorted(quota.hard.items()):
        resource = _resource(name)
        each = charged[resource] if resource is not None else 0
        if resource is not None and each:
            others = max(0, quota.used.get(name, 0) - ours[resource])
            yield Tight(max(0, hard - others) // each, quota.name, name, hard, others, each)


def _charged(requests: Resources) -> Resources:
    """What admission charges for one pod: its requests, and itself."""
    return Resources({**requests, PODS: 1})


def _resource(name: str) -> str | None:
    """The resource that a name in a quota is about; None for limits and other objects."""
    if name in _COUNTS:
        return PODS
    if name.startswith(_REQUESTS):
        return name.removeprefix(_REQUESTS)
    return name if name in _PLAIN or name.startswith("hugepages-") else None


def _covers(scope: ScopeRule, pod: Pod, priority_class: str) -> bool:
    match scope.name:
        case "NotTerminating":
            return True  # Ours have no deadline.
        case "BestEffort":
            return _is_best_effort(pod)
        case "NotBestEffort":
            return not _is_best_effort(pod)
        case "PriorityClass":
            return _names_class(scope, priority_class)
        case "CrossNamespacePodAffinity":
            return any(map(_across_namespaces, _pod_terms(pod)))
        case _:
            return False


def _is_best_effort(pod: Pod) -> bool:
    return not pod.requests[CPU] and not pod.requests[MEMORY]


def _names_class(scope: ScopeRule, name: str) -> bool:
    match scope.operator:
        case "Exists":
            return bool(name)
        case "DoesNotExist":
            return not name
        case "In":
            return name in scope.values
        case "NotIn":
            return name not in scope.values
        case _:
            return False


def _pod_terms(pod: Pod) -> Iterable[PodTerm]:
    for affinity in (pod.placement.pod_affinity, pod.placement.pod_anti_affinity):
        yield from affinity.required
        yield from (each.term for each in affinity.preferred)


def _across_namespaces(term: PodTerm) -> bool:
    return bool(term.namespaces) or term.namespace_selector is not None
