"""Headrooms with automatic shapes: collect what indicates the growth of each workload.

A choice needs a pass over all pods, so it is made once a minute, and at once if one more workload
can be chosen or a chosen workload is gone. The decision is pure: `core.headrooms.shapes`. The
creation times of pods are kept for a day, also of deleted pods: a workload that grew and shrank
will grow again.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial

from headroom.core.headrooms.candidates import Maker, candidates, maker_of
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.headrooms import Auto, Headroom, Workload
from headroom.core.headrooms.shapes import (
    DAY,
    ShapeCandidate,
    Shapes,
    chosen_anew,
    in_scope,
    shape_name,
    still_there,
)
from headroom.core.objects import Pod
from headroom.engine.headrooms.expected_pods import autoscalers_of, is_part
from headroom.engine.headrooms.records import remember_headroom
from headroom.engine.ledger import Ledger

MOST_MADE = 100  # pods of one controller whose time is remembered
MOST_CONTROLLERS = 20_000

Times = dict[str, OrderedDict[str, deque[datetime]]]
"""When pods were made, by namespace and uid of their controller."""


def shapes_now(ledger: Ledger, headroom: Headroom, now: datetime) -> Shapes:
    """What a headroom's slots are like now, where it does not say that itself."""
    memory, auto = ledger.slots.memory[headroom.parent.whole].shapes, headroom.slot.auto
    if auto is None or headroom.paused or headroom.problems:
        return memory
    current = still_there(memory, ledger.slots.workloads)
    if not current.is_due(now):
        return current
    return chosen_anew(current, _candidates(ledger, headroom, auto), auto.top, now)


def concerned(ledger: Ledger, workload: Workload) -> list[str]:
    """The headrooms whose slots or choice a workload may change at once."""
    name, slots, found = shape_name(workload), ledger.slots, []
    for whole in slots.depending(On.SHAPES):
        headroom, shapes = slots.headrooms[whole], slots.memory[whole].shapes
        auto = headroom.slot.auto
        if auto is None:
            continue
        if any(each.name == name for each in shapes.chosen):
            found.append(whole)
        elif len(shapes.chosen) < auto.top and _in_scope(ledger, headroom, auto, workload):
            remember_headroom(ledger, whole, shapes=replace(shapes, chosen_at=None))
            found.append(whole)
    return found


def note_made(ledger: Ledger, before: Pod | None, pod: Pod) -> None:
    """A pod was created or has changed; creation times are kept while a headroom chooses shapes."""
    if before is not None and before.uid == pod.uid:
        return
    if ledger.slots.depending(On.SHAPES):
        _note(ledger.slots.made, pod)


def note_all_made(ledger: Ledger) -> None:
    """A headroom was created, changed or deleted: start to record creation times, or drop them."""
    made = ledger.slots.made
    if not ledger.slots.depending(On.SHAPES):
        made.clear()
    elif not made:
        for pod in ledger.pods.values():
            _note(made, pod)


def _in_scope(ledger: Ledger, headroom: Headroom, auto: Auto, workload: Workload) -> bool:
    policy, namespace = ledger.policy, workload.namespace
    if namespace != headroom.parent.namespace and not (
        policy.across_namespaces and policy.serves(namespace)
    ):
        return False
    known = ledger.namespaces.get(namespace)
    labels = known.labels if known is not None else {}
    return not is_part(ledger, workload) and in_scope(headroom, auto, workload, labels)


def _candidates(ledger: Ledger, headroom: Headroom, auto: Auto) -> list[ShapeCandidate]:
    workloads = ledger.slots.workloads.values()
    found = [each for each in workloads if _in_scope(ledger, headroom, auto, each)]
    made, scaling = partial(times, ledger.slots.made), partial(autoscalers_of, ledger)
    return list(candidates(found, workloads, ledger.pods.values(), made, scaling))


def times(made: Times, maker: Maker) -> Iterable[datetime]:
    """The times at which a controller created pods."""
    namespace, uid = maker
    return made[namespace].get(uid, ()) if namespace in made else ()


def _note(made: Times, pod: Pod) -> None:
    maker = maker_of(pod)
    if maker is None or pod.created is None:
        return
    namespace, uid = maker
    here = made.setdefault(namespace, OrderedDict())
    new = uid not in here
    made_at = here.setdefault(uid, deque(maxlen=MOST_MADE))
    made_at.append(pod.created)
    while made_at and made_at[0] < pod.created - DAY:
        made_at.popleft()
    here.move_to_end(uid)  # The controllers that made none for longest come first.
    while next(iter(here.values()))[-1] < pod.created - DAY:
        here.popitem(last=False)
    if new and sum(map(len, made.values())) > MOST_CONTROLLERS:
        # Forget the oldest of the namespace that has most: nobody pushes out those of others.
        most = max(made, key=lambda name: (len(made[name]), name))
        made[most].popitem(last=False)
        if not made[most]:
            del made[most]
