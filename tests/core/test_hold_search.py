"""Which hold an owner is offered, from frozen holds: each is asked only when its turn comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from headroom.core.claims import Offer, Refused, Search
from headroom.core.doors.hold_search import Candidate, SearchView, search
from headroom.core.doors.offers import HoldAsked, answer
from headroom.core.holds import Hold
from headroom.core.node.view import HoldRoom, NodeView
from headroom.core.objects import Pod
from headroom.core.policy import Policy
from headroom.core.resources import EMPTY
from tests.builders import NOON, hold, pod, resources

WEB = pod("p", cpu=1, labels={"app": "web"})


def guardian(cpu: int, where: str = "a") -> Pod:
    return pod("guardian", cpu=cpu, node=where)


def asked(room: Hold, keeper: Pod | None, unfit: str | None = None) -> HoldAsked:
    node = NodeView("a", True, lambda _pod, _without: unfit, {}, places=10)
    guardians = (keeper,) if keeper is not None else ()
    return HoldAsked(HoldRoom(room, guardians), {}, lambda: node)


def asking(room: Hold, keeper: Pod | None, unfit: str | None = None) -> Offer | Refused:
    return answer(asked(room, keeper, unfit), WEB, 2, Policy(), NOON)


def test_a_hold_that_is_not_held_yet_may_be_soon() -> None:
    for missing in (None, guardian(2, where="")):
        found = asking(hold("h"), missing)
        assert isinstance(found, Refused)
        assert found.waiting


def test_a_pod_that_does_not_fit_is_told_where_and_why() -> None:
    found = asking(hold("h"), guardian(2), "Insufficient memory")
    assert found == Refused(hold("h").parent, "on a: Insufficient memory")


def test_a_hold_for_one_owner_is_offered_whole() -> None:
    found = asking(hold("h", cpu=2), guardian(2))
    assert isinstance(found, Offer)
    assert (found.node, found.kept) == ("a", EMPTY)


def test_of_a_hold_for_many_the_rest_is_kept() -> None:
    found = asking(hold("h", cpu=2, allocate_once=False), guardian(2))
    assert isinstance(found, Offer)
    assert found.kept == resources(cpu=1)


def test_a_hold_with_nothing_left_that_the_pod_needs_is_not_offered() -> None:
    empty = replace(guardian(1), requests=resources(memory="1Gi"))
    found = asking(hold("h", allocate_once=False), empty)
    assert isinstance(found, Refused)
    assert found.waiting


def test_who_goes_along_with_others_gets_what_they_leave_or_waits() -> None:
    room = replace(asked(hold("h", cpu=4, allocate_once=False), guardian(4)), ahead=(pod("first"),))
    beside = replace(room, left=resources(cpu=2))
    found = answer(beside, WEB, 2, Policy(), NOON)
    assert isinstance(found, Offer)
    assert found.kept == resources(cpu=1)
    for door, waits in ((1, beside), (2, room), (2, replace(room, left=EMPTY))):
        refused = answer(waits, WEB, door, Policy(), NOON)
        assert isinstance(refused, Refused)
        assert refused.waiting


def found(
    *holds: Hold,
    owner: Pod = WEB,
    node: str = "a",
    writing: bool = False,
    coming: tuple[Hold, ...] = (),
    interrupted: Callable[[], tuple[Hold, Pod | None] | None] = lambda: None,
) -> Search:
    candidates = (Candidate(each, node, writing) for each in holds)
    view = SearchView(
        owner,
        2,
        candidates,
        coming,
        lambda each: asked(each, replace(guardian(2), node=node)),
        HoldRoom,
        interrupted,
    )
    return search(view, Policy(), NOON)


def test_the_first_hold_that_offers_its_room_is_taken_and_no_other_is_asked() -> None:
    def never() -> tuple[Hold, Pod | None] | None:
        raise AssertionError("there is an offer")

    offer = found(hold("for-others", owners="api"), hold("h"), interrupted=never).offer
    assert offer is not None
    assert offer.hold == hold("h")


def test_a_hold_that_is_being_written_is_waited_for() -> None:
    result = found(hold("h"), writing=True)
    assert (result.offer, result.on_its_way) == (None, True)
    assert result.why == "Hold/default/h: it is being handed over"


def test_a_pod_that_shuns_holds_gets_none() -> None:
    shy = replace(WEB, wish=replace(WEB.wish, avoids_holds=True))
    assert found(hold("h"), owner=shy) == Search(None)


def test_a_hold_that_is_coming_is_told() -> None:
    result = found(coming=(hold("h"),))
    assert result.on_its_way
    assert result.begins_anew is None


@pytest.mark.parametrize(
    ("keeper", "why"), [(guardian(2), "failed and begins anew"), (None, "guardian was lost")]
)
def test_who_was_about_to_get_a_hold_waits_for_it(keeper: Pod | None, why: str) -> None:
    result = found(interrupted=lambda: (hold("h"), keeper))
    assert result.begins_anew == hold("h").parent
    assert why in result.why


def test_a_hold_that_the_pod_may_not_have_any_more_is_not_waited_for() -> None:
    assert found(interrupted=lambda: (hold("h", owners="api"), None)) == Search(None)
