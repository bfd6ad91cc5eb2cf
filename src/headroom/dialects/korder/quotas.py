"""Decode and encode korder's Quota: its spec, its errors, its status.

Every field is decoded separately. What korder's own webhook refuses is a problem, and the quota is
then not enforced. What korder only warns about, or never checks (the hours of a window, its
multiplier), is a warning: the rest of the quota is enforced. `quotaschema` has the definition.
"""

from __future__ import annotations

from msgspec import Raw

from headroom.core.objects import LabelSelector, Parent
from headroom.core.quotas.hours import parse_hours
from headroom.core.quotas.limits import (
    CLUSTER,
    MAX_DURATION,
    NAMESPACE_LIST,
    NAMESPACE_SELECTOR,
    OBJECT_SELECTOR,
    SCOPES,
    Ceiling,
    Quota,
    QuotaShare,
    Scope,
    TimeWindow,
    spelled,
)
from headroom.core.selector_validation import selector_refusal
from headroom.dialects.korder.kinds import QUOTAS
from headroom.dialects.korder.metadata import KorderMetadata, KorderObject
from headroom.dialects.korder.quotalimits import DEFAULT_LIMITS, ceiling_of, multiplier_of
from headroom.dialects.korder.quotastatus import status_of
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import ABSENT, Decoder, Reader, spelling
from headroom.wire.objects.selectors import Selector, label_selector
from headroom.wire.times import bounded

FINALIZER = "korder.dev/quota-finalizer"  # korder's own controller adds it; it protects nothing


class _KorderQuotaSpec(JsonObject):
    scope: Raw = ABSENT
    hard: Raw = ABSENT
    time_windows: Raw = ABSENT
    allocation: Raw = ABSENT


class _QuotaScope(JsonObject):
    type: Raw = ABSENT
    namespace_selector: Raw = ABSENT
    namespaces: Raw = ABSENT
    object_selector: Raw = ABSENT


class _QuotaWindow(JsonObject):
    name: Raw = ABSENT
    schedule: Raw = ABSENT
    multiplier: Raw = ABSENT


class _Allocation(JsonObject):
    namespace: Raw = ABSENT
    limits: Raw = ABSENT


_read_spec = Reader(_KorderQuotaSpec)
_read_scope = Reader(_QuotaScope)
_read_windows = Reader(list[_QuotaWindow])
_read_allocation = Reader(list[_Allocation])
_read_selector = Reader(Selector)
_read_texts = Reader(list[str])
_USED_BY = {
    "namespaces": NAMESPACE_LIST,
    "namespaceSelector": NAMESPACE_SELECTOR,
    "objectSelector": OBJECT_SELECTOR,
}


class _Notes:
    """The errors in one object: `errors` disable the quota, `warnings` do not."""

    def __init__(self) -> None:
        self.errors = Findings()
        self.warnings = Findings()


def _quota(read: KorderObject) -> Quota:
    metadata = read.metadata or KorderMetadata()
    notes = _Notes()
    spec = notes.errors.read(_read_spec, read.spec, "spec") or _KorderQuotaSpec()
    scope = _scope(spec.scope, notes)
    hard = ceiling_of(spec.hard, "spec.hard", notes.errors, notes.warnings) or DEFAULT_LIMITS
    if hard.longest is None:
        hard = Ceiling(hard.amounts, DEFAULT_LIMITS.longest)
    shares = _shares(spec.allocation, notes)
    _compare(scope, hard, shares, notes.warnings)
    windows = _windows(spec.time_windows, notes)
    return Quota(
        parent=Parent(
            api_version=read.api_version or QUOTAS.api_version,
            kind=read.kind or QUOTAS.kind,
            namespace="",
            name=metadata.name or "",
            uid=metadata.uid or "",
        ),
        scope=scope,
        hard=hard,
        shares=shares,
        windows=windows,
        created=bounded(metadata.creation_timestamp),
        deleted=bounded(metadata.deletion_timestamp),
        freed=_freed(metadata),
        generation=metadata.generation or 1,
        version=metadata.resource_version or "",
        problems=notes.errors.problems,
        warnings=notes.warnings.problems,
        status=status_of(spelling(read.status)),
    )


def _freed(metadata: KorderMetadata) -> tuple[str, ...] | None:
    """The other finalizers of a deleted object that has korder's finalizer."""
    found = metadata.finalizers or []
    if metadata.deletion_timestamp is None or FINALIZER not in found:
        return None
    return tuple(each for each in found if each != FINALIZER)


def _scope(raw: Raw, notes: _Notes) -> Scope:
    findings, path = notes.errors, "spec.scope"
    scope = findings.read(_read_scope, raw, path)
    if scope is None:
        if not spelling(raw):
            findings.add(path, "is missing: say which objects it limits, such as type: Cluster")
        return Scope()
    kind = findings.text(scope.type, f"{path}.type") or CLUSTER
    if kind not in SCOPES:
        findings.add(f"{path}.type", f"{kind!r} is not one of {', '.join(SCOPES)}")
        return Scope()
    given = {
        "namespaces": scope.namespaces,
        "namespaceSelector": scope.namespace_selector,
        "objectSelector": scope.object_selector,
    }
    for name, text in given.items():
        if spelling(text) and _USED_BY[name] != kind:
            notes.warnings.add(f"{path}.{name}", f"is ignored with type {kind}")
    if kind == NAMESPACE_LIST:
        return Scope(kind, namespaces=_namespaces(scope.namespaces, findings))
    if kind == NAMESPACE_SELECTOR:
        selector = _selector(scope.namespace_selector, "namespaceSelector", findings)
        return Scope(kind, selector=selector)
    if kind == OBJECT_SELECTOR:
        return Scope(kind, selector=_selector(scope.object_selector, "objectSelector", findings))
    return Scope(kind)


def _namespaces(raw: Raw, findings: Findings) -> tuple[str, ...]:
    path = "spec.scope.namespaces"
    names = findings.read(_read_texts, raw, path)
    if not names:
        findings.add(path, "is empty: with type NamespaceList name at least one namespace")
    for index, name in enumerate(names or ()):
        if not name:
            findings.add(f"{path}[{index}]", "is empty; write a namespace's name")
    return tuple(names or ())


def _selector(raw: Raw, name: str, findings: Findings) -> LabelSelector:
    path = f"spec.scope.{name}"
    if not spelling(raw):
        findings.add(path, "is missing: this type of scope needs it; {} selects everything")
    selector = label_selector(findings.read(_read_selector, raw, path) or Selector())
    refusal = selector_refusal(selector)
    if refusal is not None:
        findings.add(path, refusal)
    return selector


def _windows(raw: Raw, notes: _Notes) -> tuple[TimeWindow, ...]:
    windows = []
    for index, each in enumerate(notes.errors.read(_read_windows, raw, "spec.timeWindows") or ()):
        path = f"spec.timeWindows[{index}]"
        name = _text(each.name, f"{path}.name", notes.errors)
        schedule = _text(each.schedule, f"{path}.schedule", notes.errors)
        multiplier = _text(each.multiplier, f"{path}.multiplier", notes.errors)
        hours = notes.warnings.parse(parse_hours, schedule, f"{path}.schedule")
        factor = notes.warnings.parse(multiplier_of, multiplier, f"{path}.multiplier")
        if name and hours is not None and factor is not None:
            windows.append(TimeWindow(name, hours, factor))
    return tuple(windows)


def _shares(raw: Raw, notes: _Notes) -> tuple[QuotaShare, ...]:
    shares = []
    for index, each in enumerate(notes.errors.read(_read_allocation, raw, "spec.allocation") or ()):
        path = f"spec.allocation[{index}]"
        namespace = _text(each.namespace, f"{path}.namespace", notes.errors)
        limits = ceiling_of(each.limits, f"{path}.limits", notes.errors, notes.warnings)
        if namespace and limits is not None:
            shares.append(QuotaShare(namespace, limits))
    return tuple(shares)


def _compare(
    scope: Scope, hard: Ceiling, shares: tuple[QuotaShare, ...], warnings: Findings
) -> None:
    """Report shares that can never be used up, or that apply to no namespace."""
    for index, share in enumerate(shares):
        path = f"spec.allocation[{index}]"
        if scope.kind == NAMESPACE_LIST and share.namespace not in scope.namespaces:
            warnings.add(f"{path}.namespace", f"{share.namespace} is not in spec.scope.namespaces")
        for name, amount in sorted(share.ceiling.amounts.items()):
            if amount > hard.amounts.get(name, amount):
                told, most = spelled(name, amount), spelled(name, hard.amounts[name])
                warnings.add(f"{path}.limits[{name}]", f"{told} is more than spec.hard, {most}")
        longest = share.ceiling.longest
        if longest is not None and hard.longest is not None and longest > hard.longest:
            warnings.add(f"{path}.limits[{MAX_DURATION}]", "is more than spec.hard")


def _text(raw: Raw, path: str, findings: Findings) -> str | None:
    """Read a required text; None if it is missing, which is reported."""
    text = findings.text(raw, path)
    if not text and (text is not None or not spelling(raw)):
        findings.add(path, "is missing")
    return text or None


# Errors in the spec of a Quota are in `problems` and `warnings`.
decode_quota = Decoder(QUOTAS.kind, KorderObject, _quota)
