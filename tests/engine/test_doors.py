"""Witnesses of missing doors: found by few lookups, replaced when they go, told once."""

from __future__ import annotations

from typing import Any

from headroom.core.actions import Tell, WriteHoldStatus
from headroom.core.findings.doors import OWNERS_WITHOUT_DOOR, told_in
from headroom.core.names import CLAIM_GATE, CLAIMS_NAMESPACE_LABEL
from headroom.core.objects import Key, Namespace, OwnerReference, Pod
from headroom.core.policy import Policy
from headroom.engine.agenda import Agenda
from headroom.engine.doors import witnesses
from headroom.engine.ledger import Ledger
from headroom.engine.observation.pods import see_pod
from headroom.ports import Thing
from tests.builders import NOON, hold, node, pod
from tests.engine.play import Play


def told(play: Play) -> list[str]:
    """The objects that events about doors were told of."""
    return [
        str(each.about)
        for each in play.done
        if isinstance(each, Tell) and each.reason == OWNERS_WITHOUT_DOOR
    ]


def shown(play: Play, name: str) -> str:
    """What the last status that was written for a hold says about doors."""
    writes = [
        each for each in play.done if isinstance(each, WriteHoldStatus) and each.parent.name == name
    ]
    return told_in(writes[-1].status.conditions) if writes else ""


def played(*things: Thing) -> Play:
    play = Play(node("a", cpu=64), *things)
    play.run(20)
    return play


def owner(name: str, app: str = "web", **parts: Any) -> Pod:
    return pod(name, labels={"app": app}, **parts)


def test_one_event_however_many_pods_there_are() -> None:
    play = played(hold("h"), *(owner(f"w{number}") for number in range(20)))
    assert told(play) == ["default/h"]
    assert "pod default/w0 " in shown(play, "h")


def test_each_hold_has_its_own_witness() -> None:
    play = played(hold("h"), hold("i", owners="api"), hold("j", owners="db"), owner("w"))
    assert told(play) == ["default/h"]
    assert shown(play, "i") == shown(play, "j") == ""


def test_pods_of_another_namespace_are_no_owners() -> None:
    assert told(played(hold("h"), owner("w", namespace="other"))) == []


def test_a_namespace_that_opted_in_is_left_alone() -> None:
    labels = {CLAIMS_NAMESPACE_LABEL: "enabled"}
    assert told(played(Namespace("default", labels), hold("h"), owner("w"))) == []


def test_a_pod_that_lost_its_gate_without_a_hold_had_a_door() -> None:
    play = Play(node("a", cpu=64), hold("h", cpu=100))
    play.run(5)
    play.toy.put(owner("late", gates=(CLAIM_GATE,)))
    play.run(60)
    assert not play.toy.pods[Key("default", "late")].gates
    assert told(play) == []


def test_siblings_of_a_pod_at_a_door_are_taken_to_have_come_through_it() -> None:
    mine = (OwnerReference("apps/v1", "ReplicaSet", "web-1", "rs", controller=True),)
    before = owner("w0", owners=mine, node="a", phase="Running")
    play = played(hold("h"), before, owner("w1", owners=mine, gates=(CLAIM_GATE,)))
    assert shown(play, "h") == ""


class Counted(dict[str, str]):
    """Labels that count how often a rule looks at them."""

    looks = 0

    def get(self, key: str, default: Any = None) -> Any:
        type(self).looks += 1
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        type(self).looks += 1
        return super().__contains__(key)


def test_a_pod_is_compared_only_with_holds_that_may_mean_it() -> None:
    """Thousands of holds and pods cost a few lookups a pod, not a comparison of all with all."""
    ledger, count = Ledger(Policy(), Agenda()), 1000
    for number in range(count):
        witnesses.see_wish(ledger, hold(f"h{number}", owners=f"app-{number}"))
        each = pod(f"p{number}", labels=Counted(app=f"app-{2 * number}"))
        see_pod(ledger, each, NOON)
        witnesses.see_pod(ledger, None, each)
    Counted.looks = 0
    assert len(list(witnesses.look(ledger, NOON))) == count // 2
    assert Counted.looks < 10 * count
