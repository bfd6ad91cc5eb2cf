"""For each hold and headroom, one pod that its rules match and that has no door, if there is one.

One such pod, the witness, is enough for the report; when it is gone, another is searched. Holds
without a witness are in an index by the keys of their rules, so that a new pod finds matching holds
with a few lookups. Existing pods are checked in one pass for all holds that are new or have lost
their witness, at most every few seconds, and only in their namespaces. What is known is a part of
the ledger; `core.findings.doors` has the rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

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
    told_in,
    with_remark,
)
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.index_entries import By, Entry
from headroom.core.objects import Condition, Key, Namespace, Parent, Pod
from headroom.core.owners import EVERYWHERE, pod_keys, rule_keys
from headroom.core.plan import Sequence, event_sequence
from headroom.core.subjects import Subject, Topic, headroom_subject, hold_subject
from headroom.engine.indexes import Index, drop

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger

SUBJECT = Subject(Topic.DOORS, "")
PAUSE = timedelta(seconds=5)  # between two passes over the pods that are there
TOLD_AGAIN = timedelta(minutes=10)  # between two events about one object


@dataclass(slots=True)
class DoorRecords:
    """The holds and headrooms whose owners need a door, and the pods without one.

    `index` has a wish either with its witness or with the keys by which a witness finds it.
    """

    wishes: dict[str, Hold | Headroom] = field(default_factory=dict)
    index: Index[str] = field(default_factory=Index)  # of wishes
    fresh: dict[str, None] = field(default_factory=dict)  # a pass over the pods is due for them
    news: dict[str, None] = field(default_factory=dict)  # what they should show has changed
    told_at: dict[str, datetime] = field(default_factory=dict)
    lacking: dict[str, dict[Key, None]] = field(default_factory=dict)  # by namespace
    entered: Index[str] = field(default_factory=Index)  # pods that came to a door, by uid
    not_before: datetime | None = None  # of the next pass


def see_pod(ledger: Ledger, before: Pod | None, pod: Pod) -> None:
    """A pod was created or has changed."""
    doors, namespace = ledger.doors, pod.key.namespace
    if not doors.entered.entries(pod.uid):
        if at_door(pod, ledger.policy.scheduler_names):
            controller = next((owner.uid for owner in pod.owners if owner.controller), None)
            if controller and not doors.entered.of(By.CONTROLLER, controller):
                _lose_witnesses_of(ledger, controller)
            doors.entered.put(pod.uid, (Entry(By.CONTROLLER, controller),))
        elif may_lack_door(pod):
            here = doors.lacking.setdefault(namespace, {})
            if pod.key not in here or (before is not None and before.labels != pod.labels):
                here[pod.key] = None
                _lose_witness(ledger, pod.key)
                _make_witness(ledger, pod)
            return
    if pod.key in doors.lacking.get(namespace, ()):
        _lacks_no_more(ledger, pod.key)


def lose_pod(ledger: Ledger, key: Key, uid: str) -> None:
    """A pod is gone."""
    ledger.doors.entered.put(uid)
    _lacks_no_more(ledger, key)


def see_namespace(ledger: Ledger, before: Namespace | None, namespace: Namespace) -> None:
    """A namespace may have opted in or out."""
    doors, enabled = ledger.doors, opted_in(namespace)
    if enabled == opted_in(before):
        return
    if enabled:
        for key in tuple(doors.lacking.get(namespace.name, ())):
            _lose_witness(ledger, key)
    else:
        _look_for(ledger, *doors.wishes)


def see_wish(ledger: Ledger, thing: Hold | Headroom) -> None:
    """A hold or headroom was created or has changed."""
    doors, whole, wish = ledger.doors, thing.parent.whole, asking_for_doors(thing)
    if wish is None:
        forget(ledger, thing.parent)
        return
    old = doors.wishes.get(whole)
    doors.wishes[whole] = wish
    if old is None or (old.owners, old.parent.uid) != (wish.owners, wish.parent.uid):
        doors.index.put(whole)
        doors.index.put(whole, _places(ledger, wish))
        _look_for(ledger, whole)


def forget(ledger: Ledger, parent: Parent) -> None:
    """A hold or headroom is gone, or needs no door."""
    doors, whole = ledger.doors, parent.whole
    doors.index.put(whole)
    doors.wishes.pop(whole, None)
    for noted in (doors.fresh, doors.news):
        noted.pop(whole, None)
    doors.told_at.pop(whole, None)


def with_door_condition(
    ledger: Ledger, thing: Hold | Headroom, conditions: tuple[Condition, ...], now: datetime
) -> tuple[Condition, ...]:
    """The conditions that an object should show, with the one about missing doors.

    While it is not known yet whether there is a witness, the condition stays as it was.
    """
    whole, before = thing.parent.whole, thing.status.conditions
    known = whole not in ledger.doors.fresh
    message = _message(ledger, whole) if known else told_in(before)
    return with_remark(conditions, before, message, (thing.generation, now))


def look(ledger: Ledger, now: datetime) -> Iterator[Sequence]:
    """Search witnesses among the existing pods, and report those found."""
    doors = ledger.doors
    if doors.fresh and doors.not_before is not None and now < doors.not_before:
        ledger.agenda.later(SUBJECT, doors.not_before)
    elif doors.fresh:
        doors.not_before = now + PAUSE
        _search(ledger)
    for whole in doors.news:
        wish = doors.wishes[whole]
        is_hold = isinstance(wish, Hold)
        ledger.agenda.touch(hold_subject(wish.parent) if is_hold else headroom_subject(wish.parent))
        tell = _event_about(ledger, wish, now)
        if tell is not None:
            yield event_sequence(tell)
    doors.news.clear()


def _search(ledger: Ledger) -> None:
    """Try the pods without a door as witnesses, in the namespaces of new wishes."""
    doors, across = ledger.doors, ledger.policy.across_namespaces
    fresh, doors.fresh = doors.fresh, {}
    doors.news.update(fresh)
    places = {place: None for whole in fresh for place in reached(doors.wishes[whole], across)}
    if EVERYWHERE in places:
        places = dict.fromkeys(doors.lacking)
    wanted = doors.index.all(By.WITHOUT_WITNESS)
    for namespace in places:
        for key in doors.lacking.get(namespace, ()):
            if (namespace, "") not in wanted and (EVERYWHERE, "") not in wanted:
                break  # Everybody here has a witness by now.
            if key in ledger.pods:
                _make_witness(ledger, ledger.pods[key])


def _event_about(ledger: Ledger, wish: Hold | Headroom, now: datetime) -> Tell | None:
    """The event about an object, unless it had one recently or its condition says the same."""
    parent, told_at = wish.parent, ledger.doors.told_at
    message, last = _message(ledger, parent.whole), told_at.get(parent.whole)
    if not message or told_in(wish.status.conditions):
        return None
    if last is not None and now < last + TOLD_AGAIN:
        return None
    told_at[parent.whole] = now
    about, kind = Key(parent.namespace, parent.name), parent.kind
    reason = OWNERS_WITHOUT_DOOR
    return Tell(parent.api_version, kind, about, parent.uid, "Warning", reason, message, now)


def _message(ledger: Ledger, whole: str) -> str:
    """The message about an object: its witness has no door; empty without a witness."""
    witness = _witness(ledger, whole)
    return remark(witness) if witness is not None else ""


def _witness(ledger: Ledger, whole: str) -> Key | None:
    entries = ledger.doors.index.entries(whole)
    return next((each.value for each in entries if isinstance(each.value, Key)), None)


def _make_witness(ledger: Ledger, pod: Pod) -> None:
    """Make a pod without a door the witness of every hold that matches it and has none.

    This is not done if other pods of its controller use a door: then this pod used it, too. A pod
    that found no hold has lost its gate, and nothing on it shows that it had one.
    """
    doors, namespace = ledger.doors, pod.key.namespace
    wanted = doors.index.all(By.WITHOUT_WITNESS)
    places = [each for each in (namespace, EVERYWHERE) if (each, "") in wanted]
    if not places or opted_in(ledger.namespaces.get(namespace)):
        return
    through = doors.entered.all(By.CONTROLLER)
    if any(owner.uid in through for owner in pod.owners):
        return
    keys = pod_keys(pod, asked=False)
    found = {whole: None for at in places for key in keys for whole in wanted.get((at, key), ())}
    for whole in found:
        if is_for(doors.wishes[whole], pod, ledger.policy.across_namespaces):
            doors.index.put(whole, (Entry(By.WITNESS, pod.key),))
            doors.fresh.pop(whole, None)
            doors.news[whole] = None
            ledger.agenda.touch(SUBJECT)


def _lose_witnesses_of(ledger: Ledger, controller: str) -> None:
    """A pod has come to a door: its siblings, which do the same, bear witness no more."""
    for key in tuple(ledger.doors.index.all(By.WITNESS)):
        witness = ledger.pods.get(key)
        if witness is not None and any(each.uid == controller for each in witness.owners):
            _lose_witness(ledger, key)


def _lacks_no_more(ledger: Ledger, key: Key) -> None:
    """A pod has a door now, or is gone."""
    if key in ledger.doors.lacking.get(key.namespace, ()):
        drop(ledger.doors.lacking, key.namespace, key)
        _lose_witness(ledger, key)


def _lose_witness(ledger: Ledger, key: Key) -> None:
    """A pod is no longer a witness: search another one."""
    doors = ledger.doors
    for whole in tuple(doors.index.of(By.WITNESS, key)):
        doors.index.put(whole, _places(ledger, doors.wishes[whole]))
        _look_for(ledger, whole)


def _look_for(ledger: Ledger, *wholes: str) -> None:
    """Search a witness among the existing pods for each object without one."""
    for whole in wholes:
        if _witness(ledger, whole) is None:
            ledger.doors.fresh[whole] = None
    ledger.agenda.touch(SUBJECT)


def _places(ledger: Ledger, wish: Hold | Headroom) -> tuple[Entry, ...]:
    """The index entries of a wish; without a key, one that says that its namespace has a wish."""
    within = reached(wish, ledger.policy.across_namespaces)
    keys = ("", *rule_keys(wish))
    return tuple(Entry(By.WITHOUT_WITNESS, (place, key)) for place in within for key in keys)
