"""Whatever comes in whatever order: in the end all is settled, and nothing is left to decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headroom.core.actions import Action, Outcome, Stale, Tell, Unavailable
from headroom.core.claims import claim_of
from headroom.core.names import CLAIM_GATE, SCHEDULER_NAME
from headroom.core.objects import Pod
from headroom.core.resources import EMPTY
from tests.builders import hold, node, pod
from tests.engine.play import Play
from tests.samples import examples

LONG = 600.0
FIRST = (hold("first", cpu=2, memory=0), hold("many", cpu=2, memory=0, allocate_once=False))


def _owner(number: int, cpu: int, door: str, app: str) -> Callable[[Play], None]:
    def come(play: Play) -> None:
        parts: dict[str, Any] = {"labels": {"app": app}, "phase": "Pending"}
        if door == "gate":
            parts["gates"] = (CLAIM_GATE,)
        elif door == "ours":
            parts["scheduler"] = SCHEDULER_NAME
        name = f"p{number}"
        if all(key.name != name for key in play.toy.pods):
            play.put(pod(name, cpu=cpu, **parts))

    return come


def _hold(number: int, cpu: int, once: bool, app: str) -> Callable[[Play], None]:
    def come(play: Play) -> None:
        wanted = hold(f"h{number}", cpu=cpu, memory=0, owners=app, allocate_once=once)
        if str(wanted.parent) not in play.toy.holds:
            play.put(wanted)

    return come


def _goes(number: int, kind: str) -> Callable[[Play], None]:
    def go(play: Play) -> None:
        found: list[Any] = sorted(play.toy.pods.values(), key=lambda each: each.key)
        if kind == "hold":
            found = [play.toy.holds[parent] for parent in sorted(play.toy.holds)]
        elif kind == "guardian":
            found = play.ours("guardian")
        if found:
            play.toy.remove(found[number % len(found)])

    return go


def _ends(number: int) -> Callable[[Play], None]:
    def end(play: Play) -> None:
        placed = [each for each in play.toy.pods.values() if each.node and _is_users(each)]
        if placed:
            play.put(replace(placed[number % len(placed)], phase="Succeeded"))

    return end


def _is_users(each: Pod) -> bool:
    return "headroom.dev/role" not in each.labels


def _passes(rounds: int) -> Callable[[Play], None]:
    def go_on(play: Play) -> None:
        for _ in range(rounds):
            play.round()
            play.toy.schedule()

    return go_on


def _restart(play: Play) -> None:
    play.restart()


def _trouble(share: int) -> Callable[[Play], None]:
    def begin(play: Play) -> None:
        count = 0

        def answer(action: Action) -> Outcome | None:
            nonlocal count
            count += 1
            if share == 0 or count % share or isinstance(action, Tell):
                return None
            if count % 2:
                play.toy.perform(action)  # It happened, and nobody said so.
                return Unavailable("timed out")
            return Stale("conflict") if "Delete" not in type(action).__name__ else None

        play.answer = answer

    return begin


NUMBERS = st.integers(0, 5)
APPS = st.sampled_from(("web", "api"))
happenings = st.one_of(
    st.builds(_hold, st.integers(0, 3), st.integers(1, 3), st.booleans(), APPS),
    st.builds(_owner, NUMBERS, st.integers(1, 3), st.sampled_from(("gate", "ours", "")), APPS),
    st.builds(_owner, NUMBERS, st.integers(1, 2), st.sampled_from(("gate", "ours")), APPS),
    st.builds(_goes, NUMBERS, st.sampled_from(("pod", "hold", "guardian"))),
    st.builds(_ends, NUMBERS),
    st.builds(_passes, st.integers(1, 3)),
    st.builds(_passes, st.integers(1, 3)),
    st.just(_restart),
    st.builds(_trouble, st.sampled_from((0, 2, 3, 5))),
)


@examples(120)
@given(st.lists(happenings, min_size=6, max_size=16))
def test_everything_comes_to_rest_and_nothing_is_given_twice(
    happened: list[Callable[[Play], None]],
) -> None:
    play = Play(node("a", cpu=3), node("b", cpu=2), *FIRST)
    play.run(1)
    for happening in happened:
        happening(play)
        check_always(play)
    play.answer = None
    play.run(LONG)
    check_always(play)
    play.done.clear()
    assert play.plan() == ()
    play.run(LONG)
    assert play.done == []
    assert play.ours("latch") == []
    assert not [each.key for each in play.toy.pods.values() if CLAIM_GATE in each.gates]


def check_always(play: Play) -> None:
    """What must never be seen, in the middle of anything."""
    for name, room in play.toy.nodes.items():
        there = [each for each in play.toy.pods.values() if each.node == name]
        used = sum((each.requests for each in there if not each.finished), EMPTY)
        assert used.fits_in(room.allocatable), f"{name} is too full: {there}"
    owners: dict[str, list[str]] = {}
    for each in play.toy.pods.values():
        claim = claim_of(each)
        if claim is not None and each.node:
            owners.setdefault(claim[0], []).append(each.key.name)
    for parent, names in owners.items():
        known = play.toy.holds.get(parent)
        assert known is None or not known.allocate_once or len(names) == 1, (parent, names)
