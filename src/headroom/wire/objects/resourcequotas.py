"""ResourceQuotas from their JSON: what a namespace may ask for in all, and how much it does.

Their own controller works both out in the status; until it has, a quota allows nothing to count.
"""

from __future__ import annotations

from collections.abc import Mapping

from headroom.core.amounts import amount
from headroom.core.demand.resource_quotas import ResourceQuota, ScopeRule
from headroom.core.quantity import QuantityError
from headroom.wire.kinds import RESOURCE_QUOTAS
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import Decoder

_PARTS = ("requests.", "limits.")


class _Expression(JsonObject):
    scope_name: str | None = None
    operator: str | None = None
    values: list[str] | None = None


class _ScopeSelector(JsonObject):
    match_expressions: list[_Expression] | None = None


class _QuotaSpec(JsonObject):
    scopes: list[str] | None = None
    scope_selector: _ScopeSelector | None = None


class _QuotaStatus(JsonObject):
    hard: dict[str, str | int] | None = None
    used: dict[str, str | int] | None = None


class _QuotaObject(JsonObject):
    metadata: Metadata | None = None
    spec: _QuotaSpec | None = None
    status: _QuotaStatus | None = None


def _quota(read: _QuotaObject) -> ResourceQuota:
    metadata, status = read.metadata or Metadata(), read.status or _QuotaStatus()
    return ResourceQuota(
        name=metadata.name or "",
        hard=_amounts(status.hard),
        used=_amounts(status.used),
        scopes=_scopes(read.spec or _QuotaSpec()),
        namespace=metadata.namespace or "",
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
    )


def _amounts(written: Mapping[str, str | int] | None) -> dict[str, int]:
    """Amounts by the quota's own names; one that cannot be read counts as not named."""
    found = {}
    for name, text in (written or {}).items():
        resource = name
        for part in _PARTS:
            resource = resource.removeprefix(part)
        try:
            found[name] = amount(resource, str(text))
        except QuantityError:
            continue
    return found


def _scopes(spec: _QuotaSpec) -> tuple[ScopeRule, ...]:
    plain = (ScopeRule(name) for name in spec.scopes or ())
    selector = spec.scope_selector or _ScopeSelector()
    chosen = (
        ScopeRule(each.scope_name or "", each.operator or "", tuple(each.values or ()))
        for each in selector.match_expressions or ()
    )
    return (*plain, *chosen)


decode_resource_quota = Decoder(RESOURCE_QUOTAS.kind, _QuotaObject, _quota)
