"""The claim index of a namespace: which pods the admission policies should gate.

The index contains more than necessary: one required key of every owner rule in a namespace with the
label; elsewhere only that pods may ask by annotation, if a dialect allows it. New keys are written
at once; unneeded keys are removed with the next renewal, so that many claims cost few writes. The
index is valid only for a short time: if the operator is gone, or its watch of pods is silent, the
policies stop gating. An operator that is asked to stop withdraws its indexes first, so that no pod
is gated without an operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from headroom.core.actions import WriteIndex
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.names import CLAIMS_NAMESPACE_LABEL
from headroom.core.owners import ANY_POD, EVERYWHERE, PRIORITY, gate_keys, lowest_priority, reach
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import Subject, Topic
from headroom.engine.ledger import Ledger

MOST_KEYS = 10_000
MOST_BYTES = 2**19  # An object may have 1.5 MiB in all.
BLIND_PAUSE = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class _WrittenIndex:
    keys: frozenset[str]
    renew_at: datetime


def index_subject(namespace: str) -> Subject:
    return Subject(Topic.INDEX, namespace, namespace)


def touch_indexes(ledger: Ledger, of: Hold | Headroom) -> None:
    """Check the indexes that may name a hold, or the slots of a headroom."""
    reached = reach(of, ledger.policy.across_namespaces)
    for namespace in ledger.namespaces if EVERYWHERE in reached else reached:
        ledger.agenda.touch(index_subject(namespace))


class ClaimIndexController:
    """Maintains the claim index of each namespace."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._written: dict[str, _WrittenIndex] = {}
        self._asked = False  # whether any hold was ever for pods that ask
        self._withdrawn = False
        self.blind = False  # the watch of pods has not proved for long that it is alive

    def forget(self, namespace: str) -> None:
        """The index object is gone: write it again."""
        self._written.pop(namespace, None)

    def touch(self, hold: Hold) -> None:
        """A hold was created, changed or deleted: check the indexes that may name it."""
        self._asked = self._asked or _for_who_asks(hold)
        touch_indexes(self._ledger, hold)

    def withdraw(self, now: datetime) -> Iterator[Sequence]:
        """Stop the gating of pods: empty every index, and write none from now on.

        An index that is being written is left for the next call.
        """
        self._withdrawn = True
        for namespace, known in tuple(self._written.items()):
            if self._ledger.agenda.busy(index_subject(namespace)):
                continue
            del self._written[namespace]
            if known.keys:
                write = WriteIndex(namespace, (), now)
                yield Sequence(Work.INDEX, (index_subject(namespace),), ((write,),))

    def look(self, namespace: str, now: datetime) -> Iterator[Sequence]:
        """Write the index if it misses a key or is due for renewal."""
        if self._withdrawn:
            return
        policy = self._ledger.policy
        if self.blind:  # What is written lapses by itself; it is written again when we see.
            self._written.pop(namespace, None)
            self._ledger.agenda.later(index_subject(namespace), now + BLIND_PAUSE)
            return
        keys = self._keys(namespace)
        known = self._written.get(namespace)
        if not keys and (known is None or not known.keys):
            self._written.pop(namespace, None)
            return
        if known is not None and keys <= known.keys and now < known.renew_at:
            self._ledger.agenda.later(index_subject(namespace), known.renew_at)
            return
        renew_at = now + policy.fresh_renewal
        self._written[namespace] = _WrittenIndex(keys, renew_at)
        self._ledger.agenda.later(index_subject(namespace), renew_at)
        listed = tuple(sorted(key for key in keys if not key.startswith(PRIORITY)))
        write = WriteIndex(namespace, listed, now + policy.fresh_for, lowest_priority(keys))
        yield Sequence(Work.INDEX, (index_subject(namespace),), ((write,),))

    def _keys(self, namespace: str) -> frozenset[str]:
        known = self._ledger.namespaces.get(namespace)
        if known is None or not self._ledger.policy.serves(namespace):
            return frozenset()
        across = self._ledger.policy.across_namespaces
        holds = self._open(namespace)
        if known.labels.get(CLAIMS_NAMESPACE_LABEL) == "enabled":
            keys = frozenset(key for hold in holds for key in gate_keys(hold, namespace, across))
            fits = len(keys) <= MOST_KEYS and sum(map(len, keys)) <= MOST_BYTES
            return keys if fits else frozenset({ANY_POD})
        if not self._asked:
            return frozenset()
        asked = next((hold for hold in holds if _for_who_asks(hold)), None)
        return frozenset(gate_keys(asked, namespace, across)) if asked is not None else frozenset()

    def _open(self, namespace: str) -> Iterator[Hold]:
        """The holds that may still find an owner in a namespace."""
        holds = self._ledger.hold_index
        everywhere, here = holds.of(By.REACHING, EVERYWHERE), holds.of(By.REACHING, namespace)
        for parent in dict.fromkeys((*everywhere, *here)):
            hold = self._ledger.holds[parent]
            if not hold.terminal and not hold.problems:
                yield hold


def _for_who_asks(hold: Hold) -> bool:
    return any(rule.asks is not None for rule in hold.owners)
