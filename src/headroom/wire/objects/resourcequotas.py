"""ResourceQuotas from their JSON: what a namespace may ask for in all, and how much it does.

Their own controller works both out in the status; until it has, a quota allows nothing to count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.core.amounts import amount
from headroom.core.demand.resource_quotas import ResourceQuota, ScopeRule
from headroom.core.quantity import QuantityError
from headroom.wire.kinds import RESOURCE_QUOTAS
from headroom.wire.objects.codec import TEXT, TEXTS, Codec, Part
from headroom.wire.objects.metadata import METADATA, version_of
from headroom.wire.objects.podjson import Metadata

_PARTS = ("requests.", "limits.")


def _quota(
    metadata: Metadata,
    scopes: tuple[str, ...],
    chosen: tuple[ScopeRule, ...],
    **amounts: Any,
) -> ResourceQuota:
    return ResourceQuota(
        name=metadata.name or "",
        namespace=metadata.namespace or "",
        scopes=(*map(ScopeRule, scopes), *chosen),
        **version_of(metadata),
        **amounts,
    )


def _amounts(written: Mapping[str, str | int]) -> dict[str, int]:
    """Amounts by the quota's own names; one that cannot be read counts as not named."""
    found = {}
    for name, text in written.items():
        resource = name
        for part in _PARTS:
            resource = resource.removeprefix(part)
        try:
            found[name] = amount(resource, str(text))
        except QuantityError:
            continue
    return found


_AMOUNTS = Part(dict[str, str | int], {}, _amounts)
_SCOPE_RULES = Codec(ScopeRule, name=TEXT.named("scopeName"), operator=TEXT, values=TEXTS).parts()
decode_resource_quota = Codec(
    _quota,
    metadata=METADATA,
    scopes=TEXTS.named("spec.scopes"),
    chosen=_SCOPE_RULES.named("spec.scopeSelector.matchExpressions"),
    hard=_AMOUNTS.named("status.hard"),
    used=_AMOUNTS.named("status.used"),
).decoder(RESOURCE_QUOTAS.kind)
