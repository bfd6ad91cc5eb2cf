"""`explain` says the operator's own reasons, in a sentence and by hold and node."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from headroom.cli.source import World
from headroom.cli.views.holds import explain_hold
from headroom.cli.views.pods import explain_pod
from headroom.cli.views.prose import prose
from headroom.core.derived_names import guardian_name
from headroom.core.holds import PREEMPTIBLE, Hold, HoldStatus, OwnerUse, Problem
from headroom.core.names import (
    API_VERSION,
    CLAIM_GATE,
    CLAIMED_ANNOTATION,
    CLAIMED_SLOT_ANNOTATION,
    PARENT_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
)
from headroom.core.objects import Condition, Node, OwnerReference, Pod
from headroom.core.policy import Policy
from headroom.core.sizes.replicas import Replicas
from tests.builders import NOON, hold, node, pod
from tests.cli.commands import headroom
from tests.cli.slot_builder import keeper
from tests.cli.slot_builder import world as slots_world
from tests.core.headroom_builder import headroom as headroom_of

CHECKOUT = hold("checkout", cpu=2, owners="checkout", status=HoldStatus("Available", "a"))


def world(*things: Node | Pod | Hold) -> World:
    return World(
        raw=(),
        nodes=tuple(thing for thing in things if isinstance(thing, Node)),
        pods=tuple(thing for thing in things if isinstance(thing, Pod)),
        holds=tuple(thing for thing in things if isinstance(thing, Hold)),
        namespaces=(),
        now=NOON + timedelta(minutes=1),
    )


def guardian(of: Hold, on: str) -> Pod:
    return pod(
        guardian_name(of),
        cpu=2,
        memory="1Gi",
        node=on,
        phase="Running",
        labels={ROLE_LABEL: ROLE_GUARDIAN},
        annotations={PARENT_ANNOTATION: str(of.parent)},
        owners=(OwnerReference(API_VERSION, "Hold", of.key.name, of.parent.uid, controller=True),),
    )


def test_a_stranger_is_told_that_no_hold_is_for_it_and_what_each_node_lacks() -> None:
    thief = pod("thief", cpu=3, labels={"app": "thief"})
    told = explain_pod(world(node("a"), CHECKOUT, guardian(CHECKOUT, "a"), thief), thief, Policy())
    assert told.summary == "pod default/thief waits: no hold is for it and no node has the room."
    assert [each.gives for each in told.holds] == [False]
    assert "labelSelector" in told.holds[0].answer
    assert told.nodes[0].answer == "Insufficient cpu"
    assert "headroom get nodes" in told.next_step


def test_an_owner_at_the_gate_is_told_which_hold_is_for_it() -> None:
    owner = pod("checkout-1", cpu=2, labels={"app": "checkout"}, gates=(CLAIM_GATE,))
    told = explain_pod(world(node("a"), CHECKOUT, guardian(CHECKOUT, "a"), owner), owner, Policy())
    assert told.summary == (
        "pod default/checkout-1 waits for its handover: hold default/checkout is for it."
    )
    assert told.holds[0].gives
    assert "lease" in told.next_step


def test_an_owner_without_the_gate_is_told_how_to_ask() -> None:
    owner = pod("checkout-1", cpu=2, labels={"app": "checkout"})
    told = explain_pod(world(node("a"), CHECKOUT, guardian(CHECKOUT, "a"), owner), owner, Policy())
    assert "which it does not ask for" in told.summary
    assert CLAIM_GATE in told.next_step


def test_slots_of_headrooms_are_considered_like_holds() -> None:
    burst = headroom_of(Replicas(2))
    owner = pod("web-1", cpu=1, labels={"app": "web"}, gates=(CLAIM_GATE,))
    there = slots_world(node("a"), burst, keeper(burst, "1", "a"), owner)
    told = explain_pod(there, owner, Policy())
    assert [(each.hold, each.gives) for each in told.holds] == [
        ("default/burst#0", False),
        ("default/burst#1", True),
    ]
    assert told.holds[0].answer == "its room is not held yet"
    assert told.summary == (
        "pod default/web-1 waits for its handover: slot 1 of headroom default/burst is for it."
    )


def test_slots_that_answer_alike_share_a_line() -> None:
    burst = headroom_of(Replicas(3))
    thief = pod("thief", cpu=1, labels={"app": "thief"})
    told = explain_pod(slots_world(node("a"), burst, thief), thief, Policy())
    assert len(told.holds) == 3
    assert [line.split("   ") for line in prose(told).splitlines() if "labelSelector" in line] == [
        ["default/burst (3 slots)", "the pod's labels do not match the owners' labelSelector"]
    ]


def test_a_preemptible_slot_is_nobodys_to_claim() -> None:
    burst = headroom_of(Replicas(1), mode=PREEMPTIBLE)
    owner = pod("web-1", cpu=1, labels={"app": "web"}, gates=(CLAIM_GATE,))
    told = explain_pod(slots_world(node("a"), burst, owner), owner, Policy())
    assert "more important pods preempt it" in told.holds[0].answer


def test_a_gate_of_somebody_else_is_named() -> None:
    gated = pod("x", cpu=1, gates=("example.com/quota",))
    told = explain_pod(world(node("a"), gated), gated, Policy())
    assert "gated by example.com/quota, which is not ours" in told.summary


@pytest.mark.parametrize(
    ("annotations", "words"),
    [
        ({}, "without a hold"),
        ({CLAIMED_ANNOTATION: "Hold/default/h"}, "in the room of Hold/default/h"),
    ],
)
def test_a_pod_that_sits_is_told_where_and_in_whose_room(
    annotations: dict[str, str], words: str
) -> None:
    seated = pod("x", cpu=1, node="a", phase="Running", annotations=annotations)
    told = explain_pod(world(node("a"), seated), seated, Policy())
    assert told.summary == f"pod default/x is Running on a, {words}."


def test_a_guardian_says_whose_room_it_keeps() -> None:
    keeper = guardian(CHECKOUT, "a")
    told = explain_pod(world(node("a"), keeper), keeper, Policy())
    assert "keeps the room of Hold/default/checkout" in told.summary


def test_a_guardian_that_took_over_the_room_of_another_hold_says_whose_it_was() -> None:
    given = {CLAIMED_ANNOTATION: "Headroom/default/spare", CLAIMED_SLOT_ANNOTATION: "a"}
    first = guardian(CHECKOUT, "a")
    keeps = replace(first, annotations={**first.annotations, **given})
    told = explain_pod(world(node("a"), keeps), keeps, Policy())
    assert told.summary.endswith("which Headroom/default/spare#a gave it.")


@pytest.mark.parametrize(
    ("told_hold", "words"),
    [
        (CHECKOUT, "is held on a, until 2027-01-05T12:00:00+00:00"),
        (
            hold("h", status=HoldStatus("Succeeded", "a", owners=(OwnerUse("default", "x", "u"),))),
            "was given away, used by x",
        ),
        (
            hold("h", problems=(Problem("spec.ttl", "is not a duration"),)),
            "promises nothing: spec.ttl",
        ),
        (
            hold(
                "h",
                status=HoldStatus(
                    "Failed", conditions=(Condition("Ready", "False", "Expired", "time is over"),)
                ),
            ),
            "is Failed: time is over",
        ),
    ],
)
def test_a_hold_says_how_it_stands(told_hold: Hold, words: str) -> None:
    assert words in explain_hold(world(node("a"), told_hold), told_hold, Policy()).summary


def test_a_hold_without_room_hears_every_node() -> None:
    big = hold("big", cpu=9)
    told = explain_hold(world(node("a"), node("b", cpu=16), big), big, Policy())
    assert [(each.room.node, each.answer) for each in told.nodes] == [
        ("a", "Insufficient cpu"),
        ("b", ""),
    ]


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("thief", "there are: holds, headrooms, pods"),
        ("node/a", "there are: holds, headrooms, pods"),
        ("pod/", "'pod/' is no KIND/NAME"),
        ("pod", "the name of the object is missing"),
        ("pod/a pod/b", "one object at a time"),
        ("hold a b", "one object at a time"),
        ("headrom/a", "did you mean headrooms?"),
    ],
)
def test_what_cannot_be_explained_is_misuse(
    capsys: pytest.CaptureFixture[str], what: str, says: str
) -> None:
    finished = headroom(capsys, "explain", *what.split())
    assert finished.code == 2
    assert says in finished.err


def test_the_answer_for_programs_is_versioned(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: []}\n")
    finished = headroom(capsys, "explain", "pod/x", "-o", "json", "--from", str(file))
    told = json.loads(finished.out)
    assert (told["kind"], told["subject"]) == ("Explanation", "pod x")
    missing = headroom(capsys, "explain", "pod/y", "--from", str(file))
    assert missing.code == 1
