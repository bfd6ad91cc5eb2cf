"""Slots in pieces of a node: as large as fits beside the DaemonSets that there really are."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.headrooms.headrooms import NODE_CHUNK, Headroom, Workload, WorkloadRef
from headroom.core.holds import PodTemplate
from headroom.core.objects import OwnerReference, Pod
from headroom.core.sizes.replicas import Replicas
from headroom.ports import Lost
from tests.builders import node, pod
from tests.core.headroom_builder import headroom
from tests.engine.play import Play

LOGS = Workload(
    ref=WorkloadRef("apps/v1", "DaemonSet", "logs"),
    namespace="default",
    replicas=1,
    template=PodTemplate(pod("logs", cpu=1)),
    uid="uid-logs",
)


def in_pieces() -> Headroom:
    made = headroom(Replicas(4), cpu=1)
    return replace(made, slot=replace(made.slot, chunk=NODE_CHUNK))


def said_to_be_of(uid: str, controller: bool = True) -> Pod:
    owner = OwnerReference("apps/v1", "DaemonSet", "logs", uid, controller)
    return pod("logs-1", cpu=2, node="a", owners=(owner,))


def pieces(play: Play) -> list[int]:
    play.run()
    return [each.requests["cpu"] // 1000 for each in play.ours("guardian")]


def test_a_forged_daemon_set_makes_nobodys_slots_smaller() -> None:
    for forged in (said_to_be_of("uid-none"), said_to_be_of("uid-logs", controller=False)):
        play = Play(node("a", 4), node("b", 4), LOGS, forged, in_pieces())
        assert pieces(play) == [4]


def test_a_forged_daemon_set_of_another_namespace_is_not_believed() -> None:
    elsewhere = replace(LOGS, namespace="kube-system")
    play = Play(node("a", 4), node("b", 4), elsewhere, said_to_be_of("uid-logs"), in_pieces())
    assert pieces(play) == [4]


def test_a_daemon_set_that_is_there_leaves_less_for_each_piece() -> None:
    play = Play(node("a", 4), node("b", 4), LOGS, said_to_be_of("uid-logs"), in_pieces())
    assert pieces(play) == [2, 2]


def test_pieces_grow_when_a_daemon_set_goes() -> None:
    play = Play(node("a", 4), node("b", 4), LOGS, said_to_be_of("uid-logs"), in_pieces())
    assert pieces(play) == [2, 2]
    play.engine.observe(Lost(LOGS), play.now)
    play.run()
    (slot,) = (each for each in play.engine.ledger.holds.values() if each.slot)
    assert slot.template.pod.requests["cpu"] == 4000
