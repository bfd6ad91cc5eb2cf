"""A hold is decided when something has changed for it, and not when its own writes come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from headroom.core.actions import Unavailable, WriteHoldStatus
from headroom.core.holds import Hold
from headroom.core.names import SCHEDULER_NAME
from headroom.core.objects import Key
from headroom.engine.hold_controller import HoldController
from tests.builders import NAMESPACE, hold, node, pod
from tests.engine.play import Play


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The phase of the hold at each look."""
    found: list[str] = []
    look = HoldController.look

    def counted(self: HoldController, each: Hold, *args: object) -> Iterator[object]:
        found.append(each.status.phase)
        return look(self, each, *args)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(HoldController, "look", counted)
    return found


def held() -> Play:
    play = Play(node("a"), hold("h", cpu=2, owners="web"))
    play.run(60)
    return play


def owned() -> Play:
    play = held()
    play.put(pod("o", cpu=2, labels={"app": "web"}, scheduler=SCHEDULER_NAME))
    play.run(60)
    assert play.hold("h").status.phase == "Succeeded"
    return play


def test_our_own_status_that_comes_back_is_no_reason_to_look(looks: list[str]) -> None:
    play = held()
    looks.clear()
    play.put(play.hold("h"))  # In a new version.
    play.run(60)
    assert looks == []


def test_a_change_of_the_hold_is(looks: list[str]) -> None:
    play = held()
    looks.clear()
    play.put(replace(play.hold("h"), paused=True))
    play.run(1)
    assert looks


def test_its_new_version_is_known() -> None:
    play = held()
    play.put(play.hold("h"))
    play.run(1)
    known = play.engine.ledger.holds[str(play.hold("h").parent)]
    assert known.version == play.hold("h").version


def test_an_owner_costs_one_look_at_its_hold(looks: list[str]) -> None:
    play = held()
    looks.clear()
    play.put(pod("o", cpu=2, labels={"app": "web"}, scheduler=SCHEDULER_NAME))
    play.run(4)
    assert looks == ["Available"]
    assert play.hold("h").status.phase == "Succeeded"


def test_what_owners_do_after_its_end_is_no_reason_to_look(looks: list[str]) -> None:
    play = owned()
    looks.clear()
    owner = play.toy.pods[Key(NAMESPACE, "o")]
    play.put(replace(owner, phase="Running"))
    play.run(1)
    play.put(replace(owner, phase="Succeeded"))
    play.run(1)
    assert looks == []


def test_a_status_of_the_end_that_did_not_get_through_is_written_again() -> None:
    play = held()
    play.answer = lambda act: Unavailable("lost") if isinstance(act, WriteHoldStatus) else None
    play.put(pod("o", cpu=2, labels={"app": "web"}, scheduler=SCHEDULER_NAME))
    play.run(1)
    play.answer = None
    play.run(30)
    assert play.hold("h").status.phase == "Succeeded"
