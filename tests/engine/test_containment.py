"""An object that breaks a decision hurts only itself: it is told, left alone, and tried again.

`Odd` stands for what nobody thought of: a value that raises when it is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headroom.core.actions import Tell, WriteHeadroomStatus, WriteHoldStatus
from headroom.core.headrooms.headrooms import Limits
from headroom.core.names import CLAIM_GATE, SCHEDULER_NAME
from headroom.core.sizes.replicas import Replicas
from headroom.errors import described
from headroom.ports import Seen
from tests.builders import NOON, hold, node, pod
from tests.core.headroom_builder import headroom
from tests.engine.play import Play
from tests.subjects import subject


class Odd(Mapping[str, str]):
    """Labels that raise from the moment they are armed."""

    def __init__(self, **labels: str) -> None:
        self.labels = labels
        self.armed = True

    def __getitem__(self, name: str) -> str:
        self._look()
        return self.labels[name]

    def __iter__(self) -> Iterator[str]:
        self._look()
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def _look(self) -> None:
        if self.armed:
            raise ZeroDivisionError("nobody thought\x1b[31m of this")


class OddMoment(datetime):
    """A moment that raises when it is compared with another."""

    def _raise(self, other: object) -> bool:
        raise ZeroDivisionError("nobody thought of this")

    __lt__ = __le__ = __gt__ = __ge__ = _raise


class OddNumber(int):
    """A number that raises when something is made of it."""

    def __index__(self) -> int:
        raise ZeroDivisionError("nobody thought of this")

    def __lt__(self, other: object) -> bool:
        raise ZeroDivisionError("nobody thought of this")

    __gt__ = __lt__


ODD_MOMENT = OddMoment(2028, 1, 1, tzinfo=UTC)


def bystanders(play: Play) -> None:
    """Both doors go on as ever."""
    play.put(
        pod("gated", cpu=1, labels={"app": "gated"}, gates=(CLAIM_GATE,)),
        pod("ours", cpu=1, labels={"app": "ours"}, scheduler=SCHEDULER_NAME),
    )
    play.run(30)
    assert play.pod("gated").node
    assert play.pod("ours").node


def world() -> Play:
    return Play(
        node("a", cpu=8),
        hold("gated", cpu=1, memory=0, owners="gated"),
        hold("ours", cpu=1, memory=0, owners="ours"),
    )


def test_a_pod_that_breaks_our_sight_of_it_hurts_nobody_else() -> None:
    play = world()
    play.run()
    play.engine.observe(Seen(replace(pod("odd", cpu=1), labels=Odd(app="x"))), play.now)
    bystanders(play)
    assert play.engine.quarantine.total > 0


def test_a_hold_that_breaks_its_decision_is_told_and_tried_ever_less_often() -> None:
    play = world()
    play.put(hold("odd", cpu=1, memory=0, expires=ODD_MOMENT))
    play.run(600)
    bystanders(play)
    tells = [each for each in play.done if isinstance(each, Tell)]
    told = [each for each in tells if each.reason == "InternalError"]
    assert {str(each.about) for each in told} == {"default/odd"}
    assert len(told) <= 2  # once in ten minutes
    degraded = [each for each in play.hold("odd").status.conditions if each.type == "Degraded"]
    assert [(each.status, each.reason) for each in degraded] == [("True", "InternalError")]
    assert play.engine.quarantine.total < 40


def test_once_mended_the_hold_is_held() -> None:
    play = world()
    play.put(hold("odd", cpu=1, memory=0, expires=ODD_MOMENT))
    play.run(5)
    play.put(hold("odd", cpu=1, memory=0, expires=NOON + timedelta(hours=1)))
    play.run(30)
    assert play.hold("odd").status.phase == "Available"
    assert {each.reason for each in play.hold("odd").status.conditions} == {"Available"}


def test_a_headroom_that_breaks_its_decision_is_told_and_others_are_held() -> None:
    play = world()
    odd, fine = (
        replace(made, parent=replace(made.parent, name=name, uid=f"uid-of-{name}"))
        for name, made in (
            ("odd", headroom(Replicas(2), limits=Limits(slots=OddNumber(1)))),
            ("fine", headroom(Replicas(1))),
        )
    )
    play.put(odd, fine)
    play.run(60)
    bystanders(play)
    writes = [each for each in play.done if isinstance(each, WriteHeadroomStatus)]
    told = {each.parent.name: each.status.conditions for each in writes}
    assert [each.reason for each in told["fine"]] == ["Held"] * 3
    assert "InternalError" in [each.reason for each in told["odd"]]


def test_an_owner_whose_handover_breaks_does_not_keep_its_node_from_others() -> None:
    play = world()
    play.run()
    odd = Odd(app="gated")
    odd.armed = False
    play.put(pod("odd", cpu=1, labels=odd, gates=(CLAIM_GATE,)))
    play.tell()
    odd.armed = True
    play.run(30)
    play.put(hold("later", cpu=1, memory=0, owners="gated"))
    bystanders(play)


def test_what_was_decided_before_the_exception_is_done_and_given_back() -> None:
    play = world()
    play.put(hold("odd", cpu=1, memory=0, expires=ODD_MOMENT))
    play.run(60)
    for kind in ("hold", "status"):
        assert not play.engine.ledger.agenda.busy(subject(f"{kind} Hold/default/odd"))


def test_the_status_of_what_stands_is_kept() -> None:
    play = Play(node("a", cpu=8), hold("h", cpu=1, memory=0))
    play.run()
    assert play.hold("h").status.phase == "Available"
    play.put(replace(play.hold("h"), expires=ODD_MOMENT))
    play.run(10)
    assert play.hold("h").status.phase == "Available"
    assert len(play.ours("guardian")) == 1
    assert [each for each in play.done if isinstance(each, WriteHoldStatus)]


def test_words_of_an_exception_carry_no_control_characters() -> None:
    assert described(ValueError("a\x1b[31mb\n")) == "ValueError: a [31mb "
    assert len(described(ValueError("x" * 10_000))) < 300


def test_running_out_of_memory_is_nobodys_own_trouble() -> None:
    play = world()

    def grab() -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        play.engine.quarantine.attempt("decide", "hold x", NOON, grab)
