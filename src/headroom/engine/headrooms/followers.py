"""Headrooms that follow gated pods: which pods, what each needs, and the removal of its gate.

The slots themselves are ordinary slots, calculated by `core.headrooms.wanted_slots`. This module
does the rest: an index of the pods with a followed gate or the label of a released one, and the
writes on owners: label, release, unlabel.

    gated ──label──▶ gated, labelled ──slots created──▶ released ──runs or ends──▶ unlabelled
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.actions import LabelPod, Tell, Ungate
from headroom.core.demand.followers import Followed, Following, followed
from headroom.core.demand.volumes import mounts
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import PREEMPTIBLE
from headroom.core.names import PARENT_ANNOTATION, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work, earliest, telling
from headroom.core.sizes.follow import Follow, is_owner, owner_label
from headroom.core.sizes.kind import Size
from headroom.core.statuses import tell_pod
from headroom.core.subjects import Subject, Topic, pod_subject
from headroom.engine.headrooms.slot_pods import slot_guardians
from headroom.engine.indexes import drop
from headroom.engine.ledger import Ledger

FIRST_TRY = timedelta(seconds=30)
PATIENCE = timedelta(seconds=2)


def owner_subject(key: Key) -> Subject:
    """The subject of writes on an owner for the sake of its slots: one at a time."""
    return pod_subject(key, Topic.FOLLOW)


class Followers:
    """Owners by headroom, and what is under way with each."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._headrooms: dict[str, tuple[Headroom, Follow]] = {}  # those that follow
        self._labels: dict[str, None] = {}  # labels of owners that some headroom looks for
        self._bearers: dict[str, dict[Key, None]] = {}  # pods by gate, and by such a label
        self._borne: dict[Key, tuple[str, ...]] = {}
        self._since: dict[str, datetime] = {}  # by uid: when we first could do something
        self._needs: dict[str, tuple[Followed, ...]] = {}
        self._told: dict[str, str] = {}  # by uid: what was last told on the pod

    def depend(self, old: Headroom | None, new: Headroom | None) -> None:
        """A headroom came, changed or went."""
        if old is not None and self._headrooms.pop(old.parent.whole, None) is not None:
            self._needs.pop(old.parent.whole, None)
            used = (owner_label(each.parent, rule) for each, rule in self._headrooms.values())
            self._labels = dict.fromkeys(used)
        rule = new.size.follows if new is not None else None
        if new is None or rule is None:
            return
        self._headrooms[new.parent.whole] = (new, rule)
        label = owner_label(new.parent, rule)
        if label not in self._labels:
            self._labels[label] = None
            for pod in self._ledger.pods.values():
                if label in pod.labels:
                    self._list(pod)

    def see(self, old: Pod | None, pod: Pod) -> tuple[str, ...]:
        """Take a pod as it now is; answer with the headrooms that it concerns, or did."""
        before = tuple(self._concerned(old)) if old is not None else ()
        self._list(pod)
        return tuple(dict.fromkeys((*before, *self._concerned(pod))))

    def lose(self, key: Key, uid: str, old: Pod | None) -> tuple[str, ...]:
        """A pod is gone; `old` is what has its name. Answer with the headrooms that it concerned.

        One that we have deleted ourselves has been taken out of the ledger when that was answered.
        """
        self._since.pop(uid, None)
        self._told.pop(uid, None)
        if old is not None and old.uid != uid:
            return ()  # The name has a new bearer.
        self._unlist(key)
        return tuple(self._concerned(old)) if old is not None else ()

    def storage_changed(self) -> tuple[str, ...]:
        """A claim, volume or class came, changed or went: the headrooms that may go by it."""
        return tuple(self._headrooms)

    def follows(self, key: Key) -> tuple[str, ...]:
        """The headrooms that a pod concerns."""
        pod = self._ledger.pods.get(key)
        return tuple(self._concerned(pod)) if pod is not None else ()

    def look(self, headroom: Headroom, size: Size, now: datetime) -> tuple[Followed, ...]:
        """What each owner of a headroom needs now."""
        rule = size.follows
        if rule is None:
            return ()
        made = self._made(headroom)
        needs = tuple(
            Followed(owner, self._needed(rule, owner, made.get(owner.uid, frozenset()), now))
            for owner in self._owners(headroom, rule)
        )
        self._needs[headroom.parent.whole] = needs
        return needs

    def serve(self, headroom: Headroom, open_now: bool, now: datetime) -> Iterator[Sequence]:
        """The writes on owners that are due; outside its schedule a headroom keeps nobody."""
        size, agenda = headroom.size.follows, self._ledger.agenda
        if size is None:
            return
        for each in self.look(headroom, size, now):  # Slots may be known only since the last one.
            needs, subject = each.needs, owner_subject(each.owner.key)
            if agenda.busy(subject) or agenda.resting(subject, now):
                continue
            if not open_now and size.gate in each.owner.gates:
                needs = Following(release=True, reason="OutsideSchedule")
            yield from self._tellings(each.owner, needs, now)
            action = _next_write(each.owner, needs, size, owner_label(headroom.parent, size))
            if action is not None:
                yield Sequence(Work.FOLLOW, (subject,), ((action,),))

    def _owners(self, headroom: Headroom, size: Follow) -> Iterator[Pod]:
        label = owner_label(headroom.parent, size)
        keys = {**self._bearers.get(size.gate, {}), **self._bearers.get(label, {})}
        for key in sorted(keys):
            pod = self._ledger.pods.get(key)
            if pod is not None and is_owner(headroom.parent, size, pod):
                yield pod

    def _needed(self, size: Follow, owner: Pod, made: frozenset[str], now: datetime) -> Following:
        mounted = mounts(owner.key.namespace, owner.claims, self._ledger.volumes.storage)
        needs = followed(self._by_our_clock(owner, size, now), size, mounted, made, now)
        later = self._since[owner.uid] + PATIENCE
        if needs.reason == "CannotFollow" and now < later:
            # Claims and pods arrive by different streams: what is missing may come in a moment.
            return replace(needs, reason="Settling", look_again=earliest(needs.look_again, later))
        return needs

    def _made(self, headroom: Headroom) -> dict[str, frozenset[str]]:
        """The parts of each owner that have a guardian, by its uid."""
        made: dict[str, list[str]] = {}
        for slot, _ in slot_guardians(self._ledger, headroom):
            uid, _, part = slot.partition("/")
            made.setdefault(uid, []).append(part)
        return {uid: frozenset(parts) for uid, parts in made.items()}

    def _by_our_clock(self, owner: Pod, size: Follow, now: datetime) -> Pod:
        """The owner, no older than gives us a moment: nobody may have been there to serve it."""
        since = self._since.setdefault(owner.uid, now)
        if size.deadline is None or owner.created is None:
            return owner
        latest = since - max(timedelta(), size.deadline - FIRST_TRY)
        return replace(owner, created=max(owner.created, min(latest, now)))

    def _concerned(self, pod: Pod) -> Iterator[str]:
        """The headrooms that follow a pod, or that a guardian belongs to or serves."""
        if ROLE_LABEL in pod.labels:
            parent = pod.annotations.get(PARENT_ANNOTATION, "")
            if parent in self._headrooms:
                yield parent
            yield from self._covering(pod.node)
            return
        for whole, (headroom, rule) in self._headrooms.items():
            if is_owner(headroom.parent, rule, pod):
                yield whole

    def _covering(self, node: str) -> Iterator[str]:
        """The headrooms with an owner on a node whose slots a guardian there may cover."""
        for whole, needs in self._needs.items() if node else ():
            if self._headrooms[whole][0].mode == PREEMPTIBLE and any(
                each.owner.node == node and each.needs.slots for each in needs
            ):
                yield whole

    def _list(self, pod: Pod) -> None:
        self._unlist(pod.key)
        borne = (*pod.gates, *(label for label in self._labels if label in pod.labels))
        if borne:
            self._borne[pod.key] = borne
        for name in borne:
            self._bearers.setdefault(name, {})[pod.key] = None

    def _unlist(self, key: Key) -> None:
        for name in self._borne.pop(key, ()):
            drop(self._bearers, name, key)

    def _tellings(self, owner: Pod, needs: Following, now: datetime) -> Iterator[Sequence]:
        """Say on the pod why it waits or goes without, once."""
        tell = _telling(owner, needs, now)
        if tell is not None and self._told.get(owner.uid) != tell.message:
            self._told[owner.uid] = tell.message
            yield telling(tell)


def _next_write(owner: Pod, needs: Following, size: Follow, label: str) -> LabelPod | Ungate | None:
    """The one write that an owner needs next: labelled before it is released."""
    if needs.over:
        left = label in owner.labels and owner.deleted is None
        return LabelPod(owner.key, owner.uid, label, None) if left else None
    if needs.slots and owner.labels.get(label) != owner.uid:
        return LabelPod(owner.key, owner.uid, label, owner.uid)
    if needs.release:
        return Ungate(owner.key, owner.uid, size.gate, owner.gates.index(size.gate))
    return None


def _telling(owner: Pod, needs: Following, now: datetime) -> Tell | None:
    match needs.reason:
        case "CannotFollow":
            words = f"no slots can be made for what follows it: {needs.message}"
        case "DeadlinePassed":
            words = needs.message
        case _:
            return None
    return tell_pod(owner, needs.reason, words, now, warn=True)
