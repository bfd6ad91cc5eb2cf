"""For each hold and headroom, one pod that its rules match and that has no door, if there is one.

One such pod, the witness, is enough for the report; when it is gone, another is searched. Holds
without a witness are indexed by the keys of their rules, so that a new pod finds matching holds
with a few lookups. Existing pods are checked in one pass for all holds that are new or have lost
their witness, at most every few seconds, and only in their namespaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from headroom.core.actions import Tell
from headroom.core.findings.doors import (
    OWNERS_WITHOUT_DOOR,
    asking_for_doors,
    at_door,
    is_for,
    may_lack_door,
    opted_in,
    reached,
    remark,
    rule_keys,
    told_in,
    with_remark,
)
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.objects import Condition, Key, Namespace, Parent, Pod
from headroom.core.owners import EVERYWHERE, carried_keys
from headroom.core.plan import Sequence, telling
from headroom.core.subjects import Subject, Topic, headroom_subject, hold_subject
from headroom.engine.indexes import drop
from headroom.engine.ledger import Ledger

SUBJECT = Subject(Topic.DOORS, "")
PAUSE = timedelta(seconds=5)  # between two passes over the pods that are there
TOLD_AGAIN = timedelta(minutes=10)  # between two events about one object

Keys = dict[Key, None]


class DoorBook:
    """Remembers witnesses."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._wishes: dict[str, Hold | Headroom] = {}  # those whose owners need a door
        self._index: dict[tuple[str, str], dict[str, None]] = {}  # those without a witness
        self._fresh: dict[str, None] = {}  # those for which pods that are there must be looked at
        self._witness: dict[str, Key] = {}
        self._shows: dict[Key, dict[str, None]] = {}  # by witness: for whom it stands
        self._lacking: dict[str, Keys] = {}  # pods without a door, by namespace
        self._entered: dict[str, str] = {}  # pods that came to a door, and their controllers
        self._using: dict[str, int] = {}  # controllers with such pods, by uid
        self._enabled: dict[str, None] = {}  # namespaces that have opted in
        self._news: dict[str, None] = {}
        self._told_at: dict[str, datetime] = {}
        self._not_before: datetime | None = None

    def see(self, before: Pod | None, pod: Pod) -> None:
        """Take a pod as it was and as it now is."""
        entered = pod.uid in self._entered
        if not entered and at_door(pod, self._ledger.policy.scheduler_names):
            self._enter(pod)
        elif not entered and may_lack_door(pod):
            here = self._lacking.setdefault(pod.key.namespace, {})
            if pod.key not in here or (before is not None and before.labels != pod.labels):
                here[pod.key] = None
                self._unwitness(pod.key)
                self._bear_witness(pod)
            return
        if pod.key in self._lacking.get(pod.key.namespace, ()):
            self._gone(pod.key)

    def lose(self, key: Key, uid: str) -> None:
        """A pod is gone."""
        controller = self._entered.pop(uid, "")
        if controller:
            self._using[controller] -= 1
            if not self._using[controller]:
                del self._using[controller]
        self._gone(key)

    def see_namespace(self, namespace: Namespace) -> None:
        """A namespace may have opted in or out."""
        name, enabled = namespace.name, opted_in(namespace)
        if enabled == (name in self._enabled):
            return
        if enabled:
            self._enabled[name] = None
            for key in tuple(self._lacking.get(name, ())):
                self._unwitness(key)
        else:
            self._enabled.pop(name)
            self._look_for(*self._wishes)

    def lose_namespace(self, name: str) -> None:
        self._enabled.pop(name, None)

    def want(self, thing: Hold | Headroom) -> None:
        """A hold or headroom is as given."""
        whole, wish = thing.parent.whole, asking_for_doors(thing)
        old = self._wishes.get(whole)
        if wish is None:
            self.forget(thing.parent)
            return
        self._wishes[whole] = wish
        if old is not None and (old.owners, old.parent.uid) == (wish.owners, wish.parent.uid):
            return
        if old is not None:
            self._unlist(old)
            self._drop_witness(whole)
        self._list(wish)
        self._look_for(whole)

    def forget(self, parent: Parent) -> None:
        """A hold or headroom is gone, or needs no door."""
        whole = parent.whole
        old = self._wishes.pop(whole, None)
        if old is not None:
            self._unlist(old)
            self._drop_witness(whole)
        self._fresh.pop(whole, None)
        self._news.pop(whole, None)
        self._told_at.pop(whole, None)

    def shown(
        self, thing: Hold | Headroom, conditions: tuple[Condition, ...], now: datetime
    ) -> tuple[Condition, ...]:
        """The conditions that an object should show, with what is to be told of doors.

        While it is not known yet whether there is a witness, what was told before stays.
        """
        whole, before = thing.parent.whole, thing.status.conditions
        known = whole not in self._fresh
        message = self._message(whole) if known else told_in(before)
        return with_remark(conditions, before, message, (thing.generation, now))

    def look(self, now: datetime) -> Iterator[Sequence]:
        """Look for witnesses among the pods that are there, and tell of those found."""
        if self._fresh and self._not_before is not None and now < self._not_before:
            self._ledger.agenda.later(SUBJECT, self._not_before)
        elif self._fresh:
            self._not_before = now + PAUSE
            self._search()
        for whole in self._news:
            wish = self._wishes[whole]
            self._ledger.agenda.touch(_subject(wish))
            tell = self._tell(wish, now)
            if tell is not None:
                yield telling(tell)
        self._news.clear()

    def _search(self) -> None:
        fresh, self._fresh = self._fresh, {}
        self._news.update(fresh)
        across = self._ledger.policy.across_namespaces
        places = {place: None for whole in fresh for place in reached(self._wishes[whole], across)}
        if EVERYWHERE in places:
            places = dict.fromkeys(self._lacking)
        for namespace in places:
            for key in self._lacking.get(namespace, ()):
                if (namespace, "") not in self._index and (EVERYWHERE, "") not in self._index:
                    break  # Everybody here has a witness by now.
                if key in self._ledger.pods:
                    self._bear_witness(self._ledger.pods[key])

    def _tell(self, wish: Hold | Headroom, now: datetime) -> Tell | None:
        """The event about an object, unless it was told of late or its condition says it."""
        parent, message = wish.parent, self._message(wish.parent.whole)
        last = self._told_at.get(parent.whole)
        if not message or told_in(wish.status.conditions):
            return None
        if last is not None and now < last + TOLD_AGAIN:
            return None
        self._told_at[parent.whole] = now
        about, kind = Key(parent.namespace, parent.name), parent.kind
        reason = OWNERS_WITHOUT_DOOR
        return Tell(parent.api_version, kind, about, parent.uid, "Warning", reason, message, now)

    def _message(self, whole: str) -> str:
        witness = self._witness.get(whole)
        return remark(witness) if witness is not None else ""

    def _bear_witness(self, pod: Pod) -> None:
        """Let a pod without a door stand for every hold that means it and has no witness."""
        namespace = pod.key.namespace
        if namespace in self._enabled or self._has_sibling_at_door(pod):
            return
        places = [each for each in (namespace, EVERYWHERE) if (each, "") in self._index]
        if not places:
            return
        keys = carried_keys(pod)
        found = {whole: None for at in places for key in keys for whole in self._at(at, key)}
        for whole in found:
            wish = self._wishes[whole]
            if is_for(wish, pod, self._ledger.policy.across_namespaces):
                self._unlist(wish)
                self._witness[whole] = pod.key
                self._shows.setdefault(pod.key, {})[whole] = None
                self._note(whole)

    def _at(self, namespace: str, key: str) -> dict[str, None]:
        return self._index.get((namespace, key), {})

    def _has_sibling_at_door(self, pod: Pod) -> bool:
        """Whether other pods of its controller come through a door: then so did this one.

        A pod that found no hold has lost its gate, and nothing on it tells that it had one.
        """
        return any(owner.uid in self._using for owner in pod.owners)

    def _enter(self, pod: Pod) -> None:
        controller = next((owner.uid for owner in pod.owners if owner.controller), "")
        self._entered[pod.uid] = controller
        if not controller:
            return
        self._using[controller] = self._using.get(controller, 0) + 1
        if self._using[controller] == 1:
            for key in tuple(self._shows):
                shown = self._ledger.pods.get(key)
                if shown is not None and any(each.uid == controller for each in shown.owners):
                    self._unwitness(key)

    def _gone(self, key: Key) -> None:
        """A pod lacks a door no more, or is no more."""
        if key in self._lacking.get(key.namespace, ()):
            drop(self._lacking, key.namespace, key)
            self._unwitness(key)

    def _unwitness(self, key: Key) -> None:
        for whole in self._shows.pop(key, ()):
            del self._witness[whole]
            self._list(self._wishes[whole])
            self._look_for(whole)

    def _drop_witness(self, whole: str) -> None:
        witness = self._witness.pop(whole, None)
        if witness is not None:
            drop(self._shows, witness, whole)

    def _look_for(self, *wholes: str) -> None:
        for whole in wholes:
            if whole not in self._witness:
                self._fresh[whole] = None
        self._ledger.agenda.touch(SUBJECT)

    def _note(self, whole: str) -> None:
        self._fresh.pop(whole, None)
        self._news[whole] = None
        self._ledger.agenda.touch(SUBJECT)

    def _list(self, wish: Hold | Headroom) -> None:
        for place in self._places(wish):
            self._index.setdefault(place, {})[wish.parent.whole] = None

    def _unlist(self, wish: Hold | Headroom) -> None:
        for place in self._places(wish):
            drop(self._index, place, wish.parent.whole)

    def _places(self, wish: Hold | Headroom) -> Iterator[tuple[str, str]]:
        """Where a hold stands in the index; without a key, that its namespace has any."""
        for namespace in reached(wish, self._ledger.policy.across_namespaces):
            yield namespace, ""
            for key in rule_keys(wish):
                yield namespace, key


def _subject(wish: Hold | Headroom) -> Subject:
    return hold_subject(wish.parent) if isinstance(wish, Hold) else headroom_subject(wish.parent)
