"""The engine as a whole: silent until it knows, the same for the same, quiet when all is done."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headroom.core.actions import DeletePod, Denied, Done, Gone, Stale
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Key
from headroom.core.plan import Work
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Lost, Seen, Synced
from tests.builders import NOON, hold, node, pod
from tests.engine.play import Play


def test_before_it_has_seen_everything_it_does_nothing() -> None:
    engine = Engine(Policy())
    engine.observe(Seen(hold("h")), NOON)
    assert engine.plan(NOON).sequences == ()
    engine.observe(Synced(), NOON)
    assert [each.work for each in engine.plan(NOON).sequences] == [Work.HOLD]


def test_the_same_events_give_the_same_plans() -> None:
    plans = []
    for _ in range(2):
        play = Play(node("a"), node("b"), *(hold(f"h{n}", cpu=1) for n in range(5)))
        play.run()
        play.put(*(pod(f"p{n}", labels={"app": "web"}, gates=(CLAIM_GATE,)) for n in range(7)))
        play.run()
        plans.append(play.done)
    assert plans[0] == plans[1]


def test_what_is_under_way_is_not_planned_again() -> None:
    play = Play(node("a"), hold("h"))
    assert len(play.plan()) == 1
    play.put(play.hold("h"))
    play.now += timedelta(seconds=1)
    assert play.plan() == ()


def test_a_plan_says_when_to_look_again() -> None:
    play = Play(node("a"), hold("h", ttl=timedelta(hours=1)))
    play.run()
    assert play.engine.plan(play.now).wake_at == NOON + timedelta(hours=1)


def test_a_guardian_that_is_not_the_one_we_meant_is_not_ours_to_delete() -> None:
    play = Play(node("a"), hold("h"))
    play.run()
    guardian = play.ours("guardian")[0]
    play.put(replace(play.hold("h"), expires=play.now))
    (status, release) = [each for each in play.plan() if each.work != Work.TELL]
    play.perform(status)
    assert not play.engine.settle(release.steps[0][0], Stale(), play.now)
    assert guardian.key not in play.engine.ledger.pods


def test_a_pod_that_is_gone_already_is_gone() -> None:
    play = Play(node("a"), hold("h"))
    play.run()
    play.put(replace(play.hold("h"), expires=play.now))
    release = next(each for each in play.plan() if each.work == Work.RELEASE)
    assert not play.engine.settle(release.steps[0][0], Gone(), play.now)
    assert play.engine.ledger.guardian_of(play.hold("h")) is None


def test_only_a_yes_lets_a_sequence_go_on() -> None:
    play = Play(node("a"), hold("h"))
    create = play.plan()[0].steps[0][0]
    assert not play.engine.settle(create, Denied("no"), play.now)
    assert play.engine.settle(create, Done("uid"), play.now)


def test_a_node_that_goes_takes_nobody_along_who_is_still_there() -> None:
    play = Play(node("a"), node("b"), hold("h", cpu=1))
    play.run()
    guardian = play.ours("guardian")[0]
    play.engine.observe(Lost(node(guardian.node)), play.now)
    assert play.plan() == ()
    play.toy.remove(guardian)
    del play.toy.nodes[guardian.node]
    play.run()
    assert play.ours("guardian")[0].node == "b"


def test_a_pod_that_has_changed_before_it_was_deleted_is_still_there() -> None:
    play = Play(node("a", 4), pod("waits", version="1"))
    play.run()
    key, uid = Key("default", "waits"), "uid-of-waits"
    assert not play.engine.settle(DeletePod(key, uid, "1"), Stale(), play.now)
    assert key in play.engine.ledger.pods
    assert not play.engine.settle(DeletePod(key, uid, "1"), Gone(), play.now)
    assert key not in play.engine.ledger.pods
