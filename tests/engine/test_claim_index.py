"""The claim index: new keys at once, old ones with the next renewal, nothing where nobody asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from headroom.core.actions import Unavailable, WriteIndex
from headroom.core.holds import HoldStatus, ObjectMatch, OwnerRule
from headroom.core.names import CLAIMS_NAMESPACE_LABEL
from headroom.core.objects import Namespace
from headroom.core.policy import Policy
from headroom.dialects.korder.rules.requests import ASKING, Asks
from headroom.engine.claim_index import MOST_BYTES, MOST_KEYS
from headroom.ports import Lost, Thing
from tests.builders import hold, need, selector
from tests.engine.play import Play

ASKED = tuple(f"asks:{name}" for name in ASKING)
OPTED_IN = Namespace("default", {CLAIMS_NAMESPACE_LABEL: "enabled"})


def written(*things: Thing) -> Play:
    play = Play(*things)
    play.run(1)
    return play


def keys(play: Play) -> list[tuple[str, ...]]:
    return [each.keys for each in play.toy.indexes]


def test_an_opted_in_namespace_gets_the_keys_of_its_holds() -> None:
    play = written(OPTED_IN, hold("h"), hold("i", owners="api"), hold("j", namespace="other"))
    assert keys(play)[-1] == ("label:app=api", "label:app=web")


def test_others_get_none() -> None:
    assert keys(written(Namespace("default"), hold("h"))) == []
    assert keys(written(hold("h"))) == []


def test_pods_that_ask_are_named_wherever_there_is_something_to_ask_for() -> None:
    ticket = replace(hold("t"), owners=(OwnerRule(asks=Asks("t")),))
    play = written(Namespace("default"), Namespace("other"), hold("h"), ticket)
    assert keys(play)[-1] == tuple(sorted(ASKED))
    assert {each.namespace for each in play.toy.indexes} == {"default"}


def test_who_asks_is_named_beside_the_others_where_a_namespace_has_opted_in() -> None:
    ticket = replace(hold("t"), owners=(OwnerRule(asks=Asks("t")),))
    play = written(OPTED_IN, hold("h"), ticket)
    assert keys(play)[-1] == tuple(sorted((*ASKED, "label:app=web")))


def test_when_nothing_is_left_to_ask_for_nobody_is_named() -> None:
    ticket = replace(hold("t"), owners=(OwnerRule(asks=Asks("t")),))
    play = written(Namespace("default"), ticket)
    play.toy.remove(play.hold("t"))
    play.run(60)
    assert keys(play)[-1] == ()


def test_a_namespace_without_holds_gets_none() -> None:
    assert keys(written(OPTED_IN)) == []


def test_it_is_renewed_well_before_it_goes_stale() -> None:
    play = written(OPTED_IN, hold("h"))
    play.run(30)
    policy = Policy()
    moments = [each.fresh_until for each in play.toy.indexes]
    assert len(moments) == 6
    assert {later - sooner for sooner, later in pairwise(moments)} == {policy.fresh_renewal}
    assert policy.fresh_renewal * 2 < policy.fresh_for


def test_a_new_key_is_written_at_once() -> None:
    play = written(OPTED_IN, hold("h"))
    play.put(hold("i", owners="api"))
    play.run(0)
    assert keys(play)[-1] == ("label:app=api", "label:app=web")


def test_a_key_that_is_no_longer_needed_goes_with_the_next_renewal() -> None:
    play = written(OPTED_IN, hold("h"), hold("i", owners="api"))
    count = len(keys(play))
    play.put(replace(play.hold("i"), status=HoldStatus(phase="Failed")))
    play.run(1)
    assert len(keys(play)) == count
    play.run(10)
    assert keys(play)[-1] == ("label:app=web",)


def test_without_any_hold_it_is_emptied_once_and_then_left_alone() -> None:
    play = written(OPTED_IN, hold("h"))
    play.toy.remove(play.hold("h"))
    play.run(60)
    assert keys(play)[-1] == ()
    assert keys(play).count(()) == 1


def test_a_write_that_failed_is_made_again() -> None:
    play = Play(OPTED_IN, hold("h"))
    play.answer = lambda act: Unavailable("lost") if isinstance(act, WriteIndex) else None
    play.run(1)
    play.answer = None
    play.run(3)
    assert keys(play)[-1] == ("label:app=web",)


def test_a_namespace_that_is_gone_is_not_written_to() -> None:
    play = written(OPTED_IN, hold("h"))
    play.engine.observe(Lost(Namespace("default")), play.now)
    count = len(keys(play))
    play.now += timedelta(minutes=1)
    play.run(30)
    assert len(keys(play)) <= count + 1


def test_too_many_keys_become_one_for_everybody() -> None:
    values = tuple(f"v{number}" for number in range(MOST_KEYS + 1))
    wide = OwnerRule(selector=selector(need("app", "In", *values)))
    assert keys(written(OPTED_IN, hold("h", owners=(wide,))))[-1] == ("*",)


def test_keys_that_would_not_fit_into_an_object_become_one_for_everybody() -> None:
    values = tuple(f"{number:063d}" for number in range(MOST_BYTES // 64))
    assert len(values) < MOST_KEYS
    wide = OwnerRule(selector=selector(need("app", "In", *values)))
    assert keys(written(OPTED_IN, hold("h", owners=(wide,))))[-1] == ("*",)


def test_a_rule_by_priority_alone_gates_no_other_pods() -> None:
    burst = replace(hold("h"), owners=(OwnerRule(priority_at_least=900),))
    lower = replace(hold("i"), owners=(OwnerRule(priority_at_least=500),))
    play = written(OPTED_IN, burst, lower)
    assert (play.toy.indexes[-1].keys, play.toy.indexes[-1].priority) == ((), 500)


def test_other_namespaces_are_told_of_rules_that_name_them() -> None:
    there = Namespace("there", {CLAIMS_NAMESPACE_LABEL: "enabled"})
    named = OwnerRule(object=ObjectMatch(namespace="there"), priority_at_least=7)
    anywhere = OwnerRule(object=ObjectMatch(namespace="*", name="joe"))
    both = replace(hold("h"), owners=(named, anywhere))
    play = Play(there, both, hold("i"), policy=Policy(across_namespaces=True))
    play.run(1)
    last = play.toy.indexes[-1]
    assert (last.namespace, last.keys, last.priority) == ("there", ("name:joe",), 7)


def test_an_operator_that_does_not_see_pods_lets_its_indexes_lapse() -> None:
    play = written(OPTED_IN, hold("h"))
    play.run(30)
    before = len(play.toy.indexes)
    assert before > 1
    play.engine.sees(Policy().watch_silence + timedelta(seconds=1))
    play.run(60)
    assert len(play.toy.indexes) == before
    assert play.toy.indexes[-1].fresh_until < play.now
    play.engine.sees(timedelta(seconds=1))
    play.run(3)
    assert len(play.toy.indexes) > before
    assert play.toy.indexes[-1].fresh_until > play.now
