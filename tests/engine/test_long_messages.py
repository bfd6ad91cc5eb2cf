"""What we write about an object is short, however much there is to say of it."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.actions import Denied, MarkUnschedulable, WriteHoldStatus
from headroom.core.objects import LONGEST_MESSAGE, Condition
from headroom.core.resources import Resources
from tests.builders import hold, node, pod
from tests.engine.play import Play

MANY = {f"example.com/resource-{number}": 1 for number in range(5000)}


def test_a_pod_that_lacks_thousands_of_resources_gets_a_short_condition() -> None:
    play = Play(node("a"), node("b"))
    odd = pod("odd", scheduler="headroom-scheduler")
    play.put(replace(odd, requests=Resources({**odd.requests, **MANY})))
    play.run(30)
    said = [each.message for each in play.done if isinstance(each, MarkUnschedulable)]
    assert len(said) == 1
    assert said[0].startswith("0/2 nodes are available")
    assert len(said[0]) == LONGEST_MESSAGE


def test_a_long_refusal_is_told_in_a_status_that_the_api_server_takes_and_only_once() -> None:
    play = Play(node("a"), hold("h"))
    play.answer = lambda action: (
        Denied("no: " + "x" * 100_000) if type(action).__name__ == "CreateGuardian" else None
    )
    play.run(300)
    written = [each.status for each in play.done if isinstance(each, WriteHoldStatus)]
    assert 1 <= len(written) <= 5
    longest = max(len(each.message) for status in written for each in status.conditions)
    assert longest == LONGEST_MESSAGE


def test_a_message_is_cut_and_a_short_one_is_not() -> None:
    assert Condition("Ready", "False", "X", "a" * LONGEST_MESSAGE).message == "a" * LONGEST_MESSAGE
    cut = Condition("Ready", "False", "X", "a" * (LONGEST_MESSAGE + 1)).message
    assert (len(cut), cut[-1]) == (LONGEST_MESSAGE, "…")
