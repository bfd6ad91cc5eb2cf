"""Stored objects are read once, whoever asks, and what was read is what the object says."""

from __future__ import annotations

import copy
import json

from headroom.sim.api.decoding import changed_pod, pod_of
from headroom.sim.api.store import Change, Verb
from headroom.sim.world import SimWorld
from headroom.wire.decode import pod_from
from headroom.wire.yamls import dump
from tests.sim.things import node, pod


def test_every_listener_gets_the_same_value(world: SimWorld) -> None:
    seen: list[Change] = []
    world.store.listen("Pod", seen.append)
    world.apply(node("a"))
    world.apply(pod("web"))
    world.run_for(5)
    assert [change.verb for change in seen] == [Verb.ADDED, Verb.MODIFIED, Verb.MODIFIED]
    for change in seen:
        assert changed_pod(change) is changed_pod(change)
        assert pod_of(change.obj) is pod_of(change.obj)
        assert pod_of(change.obj) == pod_from(json.loads(json.dumps(change.obj)))


def test_what_is_deleted_reads_as_its_last_version(world: SimWorld) -> None:
    seen: list[Change] = []
    world.apply(pod("web"))
    world.store.listen("Pod", seen.append)
    world.run_for(1)
    world.delete("Pod", "default", "web")
    assert seen[-1].verb is Verb.DELETED
    assert seen[-1].thing == pod_from(json.loads(json.dumps(seen[-1].obj)))
    assert seen[-1].thing.version == str(world.store.version)


def test_a_copy_of_a_stored_object_is_plain(world: SimWorld) -> None:
    world.apply(pod("web"))
    world.run_for(1)
    (stored,) = world.list("Pod")
    pod_of(stored)
    made = copy.deepcopy(stored)
    assert type(made) is dict
    assert made == stored
    assert dump(stored) == dump(made)
