"""Fair turns in the engine: a tenant with many wishes slows down only itself."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headroom.core.actions import Action, CreateGuardian, Denied, Done, Gone, Invalid, Outcome
from headroom.core.demand.resource_quotas import ResourceQuota
from headroom.core.headrooms.headrooms import Limits
from headroom.core.headrooms.slot_batch import BatchLimits, Indexes, within
from headroom.core.headrooms.wanted_slots import SizeView, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Hold
from headroom.core.plan import Work
from headroom.core.policy import Policy
from headroom.core.sizes.replicas import Replicas
from headroom.engine.agenda import SPARE_TIMERS, Agenda
from headroom.engine.assumptions import LIFETIME, Assumed, Assumptions
from headroom.engine.engine import MOST_LOOKS
from tests.builders import NOON, hold, node
from tests.core.headroom_builder import headroom
from tests.engine.play import Play
from tests.subjects import subject

REFUSED = Denied('pods "g" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2')


class Quota:
    """An API server that takes so many guardians in a namespace and refuses the rest."""

    def __init__(self, most: int, namespace: str = "default", no: Outcome = REFUSED) -> None:
        self.most = most
        self.namespace = namespace
        self.no = no
        self.asked: list[str] = []
        self.taken = 0

    def __call__(self, action: Action) -> Outcome | None:
        if not isinstance(action, CreateGuardian) or action.hold.home != self.namespace:
            return None
        self.asked.append(action.name)
        if self.taken >= self.most:
            return self.no
        self.taken += 1
        return None

    @property
    def refusals(self) -> int:
        return len(self.asked) - self.taken


def other(name: str) -> Hold:
    """A hold in another namespace."""
    made = hold(name, cpu=1, memory=0)
    return replace(made, parent=replace(made.parent, namespace="calm", uid=f"uid-{name}"))


def test_more_than_one_plan_may_look_at_is_looked_at_in_turns() -> None:
    agenda = Agenda()
    for n in range(100_000):
        agenda.touch(subject(f"hold Headroom/loud/h#{n}"))
    agenda.touch(subject("hold Hold/calm/h"))
    agenda.touch(subject("pod calm/p"))
    agenda.touch(subject("pod loud/p"))
    first = agenda.take(NOON, MOST_LOOKS)
    assert len(first) == MOST_LOOKS
    assert {subject("hold Hold/calm/h"), subject("pod calm/p"), subject("pod loud/p")} <= set(
        first[:6]
    )
    taken = list(first)
    while batch := agenda.take(NOON, MOST_LOOKS):
        assert len(batch) <= MOST_LOOKS
        taken += batch
    assert len(taken) == len(set(taken)) == 100_003
    assert agenda.size() == 0


def test_what_fits_into_one_plan_keeps_the_order_in_which_it_came() -> None:
    agenda = Agenda()
    subjects = [subject(f"hold Hold/{space}/h{n}") for n in range(10) for space in ("a", "b")]
    for each in reversed(subjects):
        agenda.touch(each)
    assert list(agenda.take(NOON, MOST_LOOKS)) == list(reversed(subjects))


def test_timers_of_what_is_gone_do_not_pile_up() -> None:
    agenda = Agenda()
    for n in range(10 * SPARE_TIMERS):
        agenda.later(subject(f"hold Hold/a/h{n}"), NOON + timedelta(days=3650))
        agenda.forget(subject(f"hold Hold/a/h{n}"))
    assert agenda.size() <= 2 * SPARE_TIMERS + 2


def test_failures_of_what_is_gone_are_forgotten() -> None:
    agenda = Agenda()
    for n in range(1000):
        agenda.failed(subject(f"pod a/p{n}"), NOON)
    agenda.failed(subject("pod a/last"), NOON + timedelta(hours=1))
    agenda.take(NOON + timedelta(hours=2))
    assert agenda.size() <= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "no", [REFUSED, Invalid("spec.x: no"), Gone("the namespace ends")], ids=["403", "422", "gone"]
)
def test_a_refusal_pauses_the_headroom_and_not_each_of_its_slots(no: Outcome) -> None:
    play = Play(node("a", 64), headroom(Replicas(100_000), cpu=0))
    quota = play.answer = Quota(2, no=no)
    play.run(seconds=600)
    first = Policy().guardians_at_once
    assert len(play.ours("guardian")) == 2
    assert quota.refusals <= first + 12  # Then 2, 4, 8 … 120 seconds between tries.
    assert quota.refusals >= first + 4
    shown = play.toy.headrooms["Headroom/default/burst"].status
    assert (shown.desired, shown.held) == (100_000, 2)
    assert "exceeded quota" in shown.conditions[0].message or no is not REFUSED


def test_memory_follows_what_is_held_and_not_what_is_wished_for() -> None:
    play = Play(node("a", 64), headroom(Replicas(100_000), cpu=0))
    play.answer = Quota(2)
    play.run(seconds=60)
    assert len(play.engine.ledger.holds) <= Policy().slots_ahead + 2


def test_holds_that_are_refused_together_try_again_one_at_a_time() -> None:
    play = Play(node("a", 64), *(hold(f"h{n}", cpu=1, memory=0) for n in range(200)))
    quota = play.answer = Quota(0)
    play.run(seconds=120)
    assert quota.refusals <= Policy().guardians_at_once + 10
    said = play.hold("h199").status.conditions[0]
    assert (said.reason, "exceeded quota" in said.message) == ("GuardianRefused", True)


def test_holds_of_many_shapes_that_are_refused_are_paced_by_namespace() -> None:
    shaped = [hold(f"h{n}", cpu=n + 1, memory=0) for n in range(300)]
    many = [
        replace(each, template=replace(each.template, shape=each.parent.name)) for each in shaped
    ]
    play = Play(node("a", 64), *many)
    quota = play.answer = Quota(0)
    play.run(seconds=20)
    assert quota.refusals <= Policy().guardians_per_namespace + 2 * 20 + 2


def test_a_refused_tenant_does_not_slow_down_another() -> None:
    play = Play(node("a", 64), *(hold(f"h{n}", cpu=1, memory=0) for n in range(50)))
    play.answer = Quota(0)
    play.run(seconds=30)
    play.put(other("mine"))
    play.run(seconds=1)
    assert [pod.key.namespace for pod in play.ours("guardian")] == ["calm"]


def test_a_small_hold_is_made_beside_a_large_one_that_is_refused() -> None:
    large, small = hold("large", cpu=8, memory=0), hold("small", cpu=1, memory=0)
    large = replace(large, template=replace(large.template, shape="large"))
    play = Play(node("a", 64), large, small)
    play.answer = lambda action: (
        REFUSED
        if isinstance(action, CreateGuardian) and action.hold.parent == large.parent
        else None
    )
    play.run(seconds=1)
    assert len(play.ours("guardian")) == 1


def quota_of(hard: int, used: int) -> ResourceQuota:
    return ResourceQuota("q", {"pods": hard}, {"pods": used}, namespace="default")


@pytest.mark.parametrize("how", ["raised", "freed"])
def test_a_quota_that_leaves_more_room_wakes_those_who_wait(how: str) -> None:
    play = Play(node("a", 64), headroom(Replicas(5), cpu=0))
    play.put(quota_of(2, 2))
    quota = play.answer = Quota(2)
    play.run(seconds=300)
    assert len(play.ours("guardian")) == 2
    quota.most = 5
    play.put(quota_of(5, 2) if how == "raised" else quota_of(2, 0))
    play.run(seconds=3)
    assert len(play.ours("guardian")) == 5


def test_a_template_that_is_mended_is_tried_at_once() -> None:
    wanted = headroom(Replicas(3), cpu=0)
    play = Play(node("a", 64), wanted)
    quota = play.answer = Quota(0, no=Invalid("spec.x: no"))
    play.run(seconds=300)
    quota.most = 3
    assert wanted.slot.template is not None
    mended = replace(wanted.slot, template=replace(wanted.slot.template, shape="mended"))
    play.put(replace(wanted, slot=mended, generation=2))
    play.run(seconds=2)
    assert len(play.ours("guardian")) == 3


def test_nothing_of_a_refused_tenant_is_remembered_when_it_is_gone() -> None:
    holds = [hold(f"h{n}", cpu=1, memory=0) for n in range(100)]
    play = Play(node("a", 64), *holds)
    play.answer = Quota(0)
    play.run(seconds=30)
    assert len(play.engine.ledger.paces) > 0
    for each in holds:
        play.toy.remove(each)
    play.run(seconds=300)
    assert len(play.engine.ledger.paces) == 0


def test_an_answer_that_comes_after_its_hold_is_gone_leaves_nothing_behind() -> None:
    for outcome in (REFUSED, Invalid("no"), Done("uid-of-guardian")):
        play = Play(node("a", 64), hold("h", cpu=1, memory=0))
        making = [each for each in play.plan() if each.work == Work.HOLD]
        play.toy.remove(play.hold("h"))
        play.round()
        play.answer = lambda action, answer=outcome: answer
        for sequence in making:
            play.perform(sequence)
        play.answer = None
        play.run(seconds=300)
        assert len(play.engine.ledger.paces) == 0
        assert not play.engine.ledger.memory


def test_what_was_assumed_of_pods_that_are_gone_is_forgotten() -> None:
    assumptions = Assumptions()
    for n in range(1000):
        now = NOON + timedelta(seconds=n)
        assumptions.note(f"uid-{n}", now, Assumed(now + LIFETIME, gone=True))
    assert len(assumptions.by_uid) <= 12


def test_slots_that_stand_are_kept_whatever_their_number_and_the_first_holes_are_filled() -> None:
    names = Indexes(10)
    standing = frozenset({"7", "8", "9"})
    chosen, later = within(names, standing, BatchLimits(frozenset({"7", "8"}), ahead=3))
    assert chosen == ("0", "1", "7", "8", "9")  # 9 has a guardian that waits: it counts as one.
    assert later == 5
    assert within(names, standing, BatchLimits()) == (tuple(names), 0)


@pytest.mark.parametrize(
    ("limits", "count", "said"),
    [
        (Limits(slots=4), 4, "spec.limits.slots allows 4 of 100000 slots"),
        (Limits(pods=3, slots=4), 3, "spec.limits.pods allows 3 of 100000 slots"),
        (
            Limits(resources=(("cpu", 2500),)),
            2,
            "spec.limits.resources.cpu allows 2 of 100000 slots",
        ),
    ],
)
def test_limits_count_for_all_slots_also_for_those_that_come_later(
    limits: Limits, count: int, said: str
) -> None:
    wanted = headroom(Replicas(100_000), cpu=1, limits=limits)
    sight = SizeView(ActiveWindow(wanted.size), batch_limits=BatchLimits(ahead=2))
    wished = wish(wanted, sight, NOON)
    assert (wished.count, len(wished.slots), wished.asked) == (count, 2, 100_000)
    assert [note.message for note in wished.notes] == [said]


@given(st.integers(0, 30), st.frozensets(st.sampled_from([*map(str, range(40)), "a/1", "07"])))
def test_numbers_that_are_not_made_are_the_same_as_those_that_are(
    count: int, taken: frozenset[str]
) -> None:
    names = Indexes(count, taken)
    free = (name for name in map(str, range(100)) if name not in taken)
    assert list(names) == [name for _, name in zip(range(count), free, strict=False)]
    assert [name in names for name in (*map(str, range(80)), "a/1", "07", "-1", "")] == [
        name in list(names) for name in (*map(str, range(80)), "a/1", "07", "-1", "")
    ]
    assert list(names.first(5)) == list(names)[:5]


def cost_of(wished: int) -> float:
    """CPU seconds for a headroom of so many slots, of which the API server takes two."""
    play = Play(node("a", 64), headroom(Replicas(wished), cpu=0))
    play.answer = Quota(2)
    began = time.process_time()
    play.run(seconds=5)
    assert len(play.engine.ledger.holds) <= Policy().slots_ahead + 2
    return time.process_time() - began


@pytest.mark.e2e  # It needs no cluster, but its time.
def test_as_many_slots_as_one_headroom_may_have_cost_what_the_known_ones_cost() -> None:
    assert cost_of(Policy().most_slots) < 4 * cost_of(Policy().slots_ahead)


def test_a_hold_that_waits_names_no_pod_of_another_hold() -> None:
    """Holds of one shape share a pause; the API server names the pod of the one that was tried."""
    number = Policy().guardians_at_once + 20
    play = Play(node("a", 64), *(hold(f"h{n}", cpu=1, memory=0) for n in range(number)))
    asked: dict[str, str] = {}

    def refuse(action: Action) -> Outcome | None:
        if not isinstance(action, CreateGuardian):
            return None
        asked[action.hold.parent.name] = action.name
        return Denied(f'pods "{action.name}" is forbidden: exceeded quota: q')

    play.answer = refuse
    play.run(seconds=5)
    waits = [f"h{n}" for n in range(number) if f"h{n}" not in asked]
    assert waits, "all were tried"
    for name in waits:
        message = play.hold(name).status.conditions[0].message
        assert message == "a guardian of the same shape is forbidden: exceeded quota: q"
    for name, guardian in asked.items():
        assert f'pods "{guardian}" is forbidden' in play.hold(name).status.conditions[0].message
