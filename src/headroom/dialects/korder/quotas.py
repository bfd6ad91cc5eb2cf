"""Decode and encode korder's Quota: its spec, its errors, its status.

Every field is decoded separately. What korder's own webhook refuses is a problem, and the quota is
then not enforced. What korder only warns about, or never checks (the hours of a window, its
multiplier), is a warning: the rest of the quota is enforced. `quotaschema` has the definition.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.objects import LabelSelector
from headroom.core.selector_validation import selector_refusal
from headroom.dialects.korder.kinds import QUOTAS, KorderMetadata, KorderObject
from headroom.dialects.korder.quotalimits import DEFAULT_LIMITS, ceiling_of, multiplier_of
from headroom.dialects.korder.quotastatus import status_of
from headroom.dialects.korder.rules import limits
from headroom.dialects.korder.rules.hours import parse_hours
from headroom.dialects.korder.rules.quota import KorderQuota
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.metadata import life_of, parent_of
from headroom.wire.objects.reader import Decoder, Reader, spelling
from headroom.wire.objects.selectors import LABEL_SELECTOR

FINALIZER = "korder.dev/quota-finalizer"  # korder's own controller adds it; it protects nothing


_read_selector = Reader(LABEL_SELECTOR.shape)
_read_texts = Reader(list[str])
_USED_BY = {
    "namespaces": limits.NAMESPACE_LIST,
    "namespaceSelector": limits.NAMESPACE_SELECTOR,
    "objectSelector": limits.OBJECT_SELECTOR,
}


def _quota(read: KorderObject) -> KorderQuota:
    metadata = read.metadata or KorderMetadata()
    errors, warnings = Findings(), Findings()  # Only errors disable the quota.
    spec = errors.fields(read.spec, "spec")
    scope = _scope(spec, warnings)
    hard = ceiling_of(spec, "hard", warnings) or DEFAULT_LIMITS
    if hard.longest is None:
        hard = limits.Ceiling(hard.amounts, DEFAULT_LIMITS.longest)
    shares = _shares(spec, warnings)
    _compare(scope, hard, shares, warnings)
    windows = _windows(spec, warnings)
    return KorderQuota(
        parent=replace(parent_of(read, QUOTAS), namespace=""),
        scope=scope,
        hard=hard,
        shares=shares,
        windows=windows,
        **life_of(metadata),
        freed=_freed(metadata),
        problems=errors.problems,
        warnings=warnings.problems,
        status=status_of(spelling(read.status)),
    )


def _freed(metadata: KorderMetadata) -> tuple[str, ...] | None:
    """The other finalizers of a deleted object that has korder's finalizer."""
    found = metadata.finalizers or []
    if metadata.deletion_timestamp is None or FINALIZER not in found:
        return None
    return tuple(each for each in found if each != FINALIZER)


def _scope(spec: Fields, warnings: Findings) -> limits.Scope:
    scope = spec.part("scope")
    if not scope.given:
        if not spec.has("scope"):
            spec.add("scope", "is missing: say which objects it limits, such as type: Cluster")
        return limits.Scope()
    kind = scope.text("type") or limits.CLUSTER
    if kind not in limits.SCOPES:
        scope.add("type", f"{kind!r} is not one of {', '.join(limits.SCOPES)}")
        return limits.Scope()
    for name in scope.present(_USED_BY):
        if _USED_BY[name] != kind:
            warnings.add(scope.at(name), f"is ignored with type {kind}")
    if kind == limits.NAMESPACE_LIST:
        return limits.Scope(kind, namespaces=_namespaces(scope))
    if kind == limits.NAMESPACE_SELECTOR:
        return limits.Scope(kind, selector=_selector(scope, "namespaceSelector"))
    if kind == limits.OBJECT_SELECTOR:
        return limits.Scope(kind, selector=_selector(scope, "objectSelector"))
    return limits.Scope(kind)


def _namespaces(scope: Fields) -> tuple[str, ...]:
    names = scope.read(_read_texts, "namespaces")
    if not names:
        scope.add("namespaces", "is empty: with type NamespaceList name at least one namespace")
    for index, name in enumerate(names or ()):
        if not name:
            scope.add(f"namespaces[{index}]", "is empty; write a namespace's name")
    return tuple(names or ())


def _selector(scope: Fields, name: str) -> LabelSelector:
    if not scope.has(name):
        scope.add(name, "is missing: this type of scope needs it; {} selects everything")
    selector = LABEL_SELECTOR.value(scope.read(_read_selector, name) or LABEL_SELECTOR.shape())
    refusal = selector_refusal(selector)
    if refusal is not None:
        scope.add(name, refusal)
    return selector


def _windows(spec: Fields, warnings: Findings) -> tuple[limits.TimeWindow, ...]:
    windows = []
    for each in spec.parts("timeWindows"):
        name, schedule = _text(each, "name"), _text(each, "schedule")
        multiplier = _text(each, "multiplier")
        hours = warnings.parse(parse_hours, schedule, each.at("schedule"))
        factor = warnings.parse(multiplier_of, multiplier, each.at("multiplier"))
        if name and hours is not None and factor is not None:
            windows.append(limits.TimeWindow(name, hours, factor))
    return tuple(windows)


def _shares(spec: Fields, warnings: Findings) -> tuple[limits.QuotaShare, ...]:
    shares = []
    for each in spec.parts("allocation"):
        namespace = _text(each, "namespace")
        ceiling = ceiling_of(each, "limits", warnings)
        if namespace and ceiling is not None:
            shares.append(limits.QuotaShare(namespace, ceiling))
    return tuple(shares)


def _compare(
    scope: limits.Scope,
    hard: limits.Ceiling,
    shares: tuple[limits.QuotaShare, ...],
    warnings: Findings,
) -> None:
    """Report shares that can never be used up, or that apply to no namespace."""
    for index, share in enumerate(shares):
        path = f"spec.allocation[{index}]"
        if scope.kind == limits.NAMESPACE_LIST and share.namespace not in scope.namespaces:
            warnings.add(f"{path}.namespace", f"{share.namespace} is not in spec.scope.namespaces")
        for name, amount in sorted(share.ceiling.amounts.items()):
            if amount > hard.amounts.get(name, amount):
                told, most = limits.spelled(name, amount), limits.spelled(name, hard.amounts[name])
                warnings.add(f"{path}.limits[{name}]", f"{told} is more than spec.hard, {most}")
        longest = share.ceiling.longest
        if longest is not None and hard.longest is not None and longest > hard.longest:
            warnings.add(f"{path}.limits[{limits.MAX_DURATION}]", "is more than spec.hard")


def _text(given: Fields, name: str) -> str | None:
    """Read a required text; None if it is missing, which is reported."""
    text = given.text(name)
    if not text and (text is not None or not given.has(name)):
        given.add(name, "is missing")
    return text or None


# Errors in the spec of a Quota are in `problems` and `warnings`.
decode_quota = Decoder(QUOTAS.kind, KorderObject, _quota)
