"""The results of our own writes, until the watch shows them.

The API server answers a write before the watch shows the change, and an older event may still
arrive. Until then the known result overrides the observed state, or we would write the same thing
twice. An assumption ends when the watch confirms it, and after a few seconds at the latest: then
the observed state counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime, timedelta

from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.names import (
    CLAIMED_ANNOTATION,
    CLAIMED_SLOT_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
)
from headroom.core.objects import Parent, Pod

LIFETIME = timedelta(seconds=5)
MOST_ENDED = 10_000  # ends of our own pods to remember; an answer takes far less than as many
ENDED_FOR = timedelta(minutes=2)  # and far less time than this
_CLAIM = (CLAIMED_ANNOTATION, CLAIMED_UID_ANNOTATION, CLAIMED_SLOT_ANNOTATION)


@dataclass(frozen=True, slots=True)
class Assumed:
    """Each part is None where nothing is assumed; `claimed` of "" means: no claim."""

    until: datetime
    gone: bool = False
    node: str | None = None
    nominated: str | None = None
    without_gate: str | None = None
    claimed: Parent | str | None = None
    latch: Mapping[str, str] | None = None  # what its annotations now say, mostly a latch's
    label: tuple[str, str | None] | None = None  # None as its value: it is gone
    deleted: datetime | None = None  # on its way out since


PARTS = tuple(each.name for each in fields(Assumed) if each.name != "until")


class Assumptions:
    """The assumptions about pods, by uid."""

    def __init__(self) -> None:
        self.by_uid: dict[str, Assumed] = {}
        self._sweep_at: datetime | None = None
        # By uid: pods of ours whose end may have come before the answer, and when it came.
        self._ended: dict[str, datetime] = {}

    def ended(self, uid: str, now: datetime) -> None:
        """A pod of ours is gone, perhaps before the answer that it was created."""
        ended = self._ended
        ended[uid] = now
        while len(ended) > MOST_ENDED or next(iter(ended.values())) + ENDED_FOR < now:
            del ended[next(iter(ended))]

    def has_ended(self, uid: str) -> bool:
        return uid in self._ended

    def note(self, uid: str, now: datetime, change: Assumed) -> None:
        """Add a change to what is assumed of a pod."""
        old = self.by_uid.get(uid)
        if old is not None:
            told = {name: getattr(change, name) for name in PARTS}
            news = {name: part for name, part in told.items() if part not in (None, False)}
            change = replace(old, until=now + LIFETIME, **news)
        self.by_uid[uid] = change
        if self._sweep_at is None or now >= self._sweep_at:
            self._sweep(now)

    def _sweep(self, now: datetime) -> None:
        """Drop the assumptions about pods that the watch never showed: they are gone."""
        self._sweep_at = now + LIFETIME
        for uid in [uid for uid, each in self.by_uid.items() if now >= each.until]:
            del self.by_uid[uid]

    def forget(self, uid: str) -> None:
        self.by_uid.pop(uid, None)

    def over(self, pod: Pod, now: datetime) -> Pod | None:
        """The observed pod with its assumptions; None if we have deleted it."""
        assumed = self.by_uid.get(pod.uid)
        if assumed is None:
            return pod
        if now >= assumed.until:
            del self.by_uid[pod.uid]
            return pod
        if assumed.gone:
            return None
        known = overlaid(pod, assumed)
        if known == pod:
            del self.by_uid[pod.uid]
        return known


def overlaid(pod: Pod, assumed: Assumed) -> Pod:
    """The observed pod, changed by an assumption."""
    if assumed.node is not None and pod.node != assumed.node:
        pod = replace(pod, node=assumed.node)
    # A bound pod needs no nomination any more, and the API server may have taken it away.
    if assumed.nominated is not None and not pod.node and pod.nominated != assumed.nominated:
        pod = replace(pod, nominated=assumed.nominated)
    if assumed.without_gate is not None and assumed.without_gate in pod.gates:
        gates = tuple(gate for gate in pod.gates if gate != assumed.without_gate)
        pod = replace(pod, gates=gates)
    if assumed.claimed is not None:
        pod = _with_claim(pod, assumed.claimed)
    if assumed.latch is not None:
        told = {**pod.annotations, **assumed.latch}
        annotations = {key: text for key, text in told.items() if text}
        pod = pod if annotations == pod.annotations else replace(pod, annotations=annotations)
    if assumed.label is not None and pod.labels.get(assumed.label[0]) != assumed.label[1]:
        labels = {**pod.labels, **dict([assumed.label])}
        pod = replace(pod, labels={key: text for key, text in labels.items() if text is not None})
    if assumed.deleted is not None and pod.deleted is None:
        pod = replace(pod, deleted=assumed.deleted)
    return pod


def _with_claim(pod: Pod, claimed: Parent | str) -> Pod:
    annotations = {key: text for key, text in pod.annotations.items() if key not in _CLAIM}
    if isinstance(claimed, Parent):
        annotations[CLAIMED_ANNOTATION] = claimed.whole
        annotations[CLAIMED_UID_ANNOTATION] = claimed.uid
        if claimed.slot:
            annotations[CLAIMED_SLOT_ANNOTATION] = claimed.slot
    return pod if annotations == pod.annotations else replace(pod, annotations=annotations)
