"""PodDisruptionBudgets from their JSON: whom they protect, and how many more may go.

Their own controller works the number out in the status; until it has, nobody may go.
"""

from __future__ import annotations

from typing import Any

from headroom.core.eviction.budgets import Budget
from headroom.wire.kinds import BUDGETS
from headroom.wire.objects.codec import NUMBER, Codec, Part
from headroom.wire.objects.metadata import METADATA, key_of, version_of
from headroom.wire.objects.podjson import Metadata
from headroom.wire.objects.selectors import SELECTOR


def _budget(metadata: Metadata, **read: Any) -> Budget:
    return Budget(key=key_of(metadata), **version_of(metadata), **read)


decode_budget = Codec(
    _budget,
    metadata=METADATA,
    selector=SELECTOR.named("spec.selector"),
    allowed=NUMBER.named("status.disruptionsAllowed"),
    disrupted=Part(dict[str, Any], frozenset(), frozenset).named("status.disruptedPods"),
).decoder(BUDGETS.kind)
