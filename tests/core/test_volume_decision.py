"""What claims need that wait for their pod, before it may be bound to a node."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headroom.core.actions import PromiseVolume, SelectNode
from headroom.core.demand.volume_constraints import UNBINDABLE, with_volumes
from headroom.core.demand.volume_decision import BINDING_LIMIT, PASSING, BindingView, decide
from headroom.core.demand.volumes import Storage, StorageClass, Volume, VolumeClaim
from headroom.core.objects import Key, Node, Pod
from headroom.core.pod_memory import NOTHING
from tests.builders import NOON

SECOND = timedelta(seconds=1)
NODE = Node("a")
CLASS = StorageClass("late", "disks.example.com", waits_for_pod=True)
CLAIM = VolumeClaim(Key("default", "data"), storage_class="late", uid="1", size=10)
DISK = Volume("disk", free=True, storage_class="late", size=20, version="7")


def view(claim: VolumeClaim = CLAIM, *volumes: Volume) -> BindingView:
    known = {each.name: each for each in volumes}
    storage = Storage({claim.key: claim}, known, {CLASS.name: CLASS})
    pod = with_volumes(Pod(Key("default", "p"), claims=("data",), uid="p"), storage)
    return BindingView(pod, NODE, storage, NOTHING)


def test_a_node_is_chosen_for_a_volume_that_is_made_and_then_there_is_only_time() -> None:
    first = decide(view(), NOON)
    assert first.writes == (SelectNode(CLAIM.key, "1", "a"),)
    assert (first.memory.binding_since, first.wake_at) == (NOON, None)
    later = replace(view(replace(CLAIM, selected="a")), memory=first.memory)
    second = decide(later, NOON + SECOND)
    assert (second.writes, second.wake_at) == ((), NOON + BINDING_LIMIT)


def test_a_free_volume_is_promised() -> None:
    assert decide(view(CLAIM, DISK), NOON).writes == (PromiseVolume("disk", "7", CLAIM.key, "1"),)


def test_volumes_that_take_too_long_are_given_up_and_asked_for_anew() -> None:
    memory = replace(NOTHING, binding_since=NOON)
    decision = decide(replace(view(), memory=memory), NOON + BINDING_LIMIT)
    assert decision.refusal == "its volumes were not bound within 10 minutes"
    assert decision.memory == NOTHING


def test_a_volume_that_was_asked_for_and_is_not_any_more_could_not_be_made() -> None:
    decision = decide(replace(view(), asked=frozenset({"data"})), NOON)
    assert decision.refusal == "the volume of claim data could not be made for a"
    assert decision.failed == CLAIM


def test_what_is_wrong_with_a_claim_may_pass() -> None:
    gone = replace(view(), storage=Storage())
    first = decide(gone, NOON)
    assert (first.refusal, first.wake_at) == ("", NOON + PASSING)
    assert (
        decide(replace(view(), memory=first.memory), NOON + SECOND).memory.unmounted_since is None
    )
    lasting = decide(replace(gone, memory=first.memory), NOON + PASSING)
    assert lasting.refusal == 'persistentvolumeclaim "data" not found'


def test_a_node_that_is_gone_has_no_volumes() -> None:
    assert decide(replace(view(), node=None), NOON).refusal == UNBINDABLE
