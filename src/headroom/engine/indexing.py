"""The claim index of each opted-in namespace: whom the admission policy should gate.

The index is an over-approximation: one required key of every owner rule. New keys are written at
once, keys that are no longer needed go with the next renewal, so that many claims cost few writes.
It is fresh only for a while: with the operator gone, the policy stops gating by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from headroom.core.actions import WriteIndex
from headroom.core.names import CLAIMS_NAMESPACE_LABEL
from headroom.core.owners import ANY_POD, hold_keys
from headroom.core.plan import Sequence
from headroom.engine.ledger import Ledger

MOST_KEYS = 10_000


@dataclass(frozen=True, slots=True)
class _Written:
    keys: frozenset[str]
    renew_at: datetime


def index_subject(namespace: str) -> str:
    return f"index {namespace}"


class Indexer:
    """Keeps one index a namespace."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._written: dict[str, _Written] = {}

    def forget(self, namespace: str) -> None:
        """What was written is not there: write again."""
        self._written.pop(namespace, None)

    def look(self, namespace: str, now: datetime) -> Iterator[Sequence]:
        """Write the index if it misses a key or is due for renewal."""
        policy = self._ledger.policy
        keys = self._keys(namespace)
        known = self._written.get(namespace)
        if not keys and (known is None or not known.keys):
            self._written.pop(namespace, None)
            return
        if known is not None and keys <= known.keys and now < known.renew_at:
            self._ledger.agenda.later(index_subject(namespace), known.renew_at)
            return
        renew_at = now + policy.fresh_renewal
        self._written[namespace] = _Written(keys, renew_at)
        self._ledger.agenda.later(index_subject(namespace), renew_at)
        write = WriteIndex(namespace, tuple(sorted(keys)), now + policy.fresh_for)
        yield Sequence("index", (index_subject(namespace),), ((write,),))

    def _keys(self, namespace: str) -> frozenset[str]:
        known = self._ledger.namespaces.get(namespace)
        if known is None or known.labels.get(CLAIMS_NAMESPACE_LABEL) != "enabled":
            return frozenset()
        across = self._ledger.policy.across_namespaces
        parents = self._ledger.holds if across else self._ledger.holds_in.get(namespace, {})
        holds = (self._ledger.holds[parent] for parent in parents)
        keys = frozenset(
            key
            for hold in holds
            if not hold.terminal and not hold.problems
            for key in hold_keys(hold)
        )
        return keys if len(keys) <= MOST_KEYS else frozenset({ANY_POD})
