"""ResourceQuotas from their JSON: what a namespace may ask for in all, and how much it does.

Their own controller works both out in the status; until it has, a quota allows nothing to count.
"""

from __future__ import annotations

from collections.abc import Mapping

from headroom.core.amounts import amount
from headroom.core.demand.quotaroom import ResourceQuota, ScopeRule
from headroom.core.quantity import QuantityError
from headroom.wire.kinds import RESOURCE_QUOTAS
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import Decoder

_PARTS = ("requests.", "limits.")


class _Expression(JsonObject):
    scope_name: str | None = None
    operator: str | None = None
    values: list[str] | None = None


class _Selector(JsonObject):
    match_expressions: list[_Expression] | None = None


class _Spec(JsonObject):
    scopes: list[str] | None = None
    scope_selector: _Selector | None = None


class _Status(JsonObject):
    hard: dict[str, str | int] | None = None
    used: dict[str, str | int] | None = None


class _Object(JsonObject):
    metadata: Metadata | None = None
    spec: _Spec | None = None
    status: _Status | None = None


def _quota(read: _Object) -> ResourceQuota:
    metadata, status = read.metadata or Metadata(), read.status or _Status()
    return ResourceQuota(
        name=metadata.name or "",
        hard=_amounts(status.hard),
        used=_amounts(status.used),
        scopes=_scopes(read.spec or _Spec()),
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


def _scopes(spec: _Spec) -> tuple[ScopeRule, ...]:
    plain = (ScopeRule(name) for name in spec.scopes or ())
    selector = spec.scope_selector or _Selector()
    chosen = (
        ScopeRule(each.scope_name or "", each.operator or "", tuple(each.values or ()))
        for each in selector.match_expressions or ()
    )
    return (*plain, *chosen)


decode_resource_quota = Decoder(RESOURCE_QUOTAS.kind, _Object, _quota)
