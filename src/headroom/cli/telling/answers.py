"""The parts of an explanation: a sentence, facts, and what holds, slots and nodes answered.

Pure values, made by `pods`, `holds`, `headrooms` and `orders`; the verb `explain` prints them as
prose or as a document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headroom.cli.telling.rooms import Room
from headroom.core.names import API_VERSION
from headroom.core.objects import Key, Parent, identity


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing worth knowing, and what it is about."""

    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class HoldAnswer:
    """What one hold, or one slot of a headroom, says to a pod; `gives` when it would be given.

    Slots of one headroom are of one `group`, also where each is an object of its own.
    """

    parent: Parent
    gives: bool
    answer: str
    group: str = ""

    @property
    def hold(self) -> str:
        """Its name with namespace and slot, as in a table."""
        return identity(str(Key(self.parent.namespace, self.parent.name)), self.parent.slot)


@dataclass(frozen=True, slots=True)
class SlotAnswer:
    """How one slot of a headroom stands; `why` where it is not simply held."""

    slot: str
    state: str
    node: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """What one node says; `room` is how full it is, an empty `answer` means that the pod fits."""

    room: Room
    answer: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """`by_node` says that the nodes' answers tell of every slot already."""

    subject: str
    summary: str
    facts: tuple[Fact, ...] = ()
    holds: tuple[HoldAnswer, ...] = ()
    slots: tuple[SlotAnswer, ...] = ()
    nodes: tuple[NodeAnswer, ...] = ()
    next_step: str = ""
    by_node: bool = False


def called(parent: Parent) -> str:
    """A hold or a slot as a sentence names it."""
    name = f"{parent.kind.lower()} {Key(parent.namespace, parent.name)}"
    return f"slot {parent.slot} of {name}" if parent.slot else name


def as_document(told: Explanation) -> dict[str, Any]:
    """An explanation for programs."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "subject": told.subject,
        "summary": told.summary,
        "facts": [{"topic": fact.topic, "text": fact.text} for fact in told.facts],
        "holds": [
            {
                "hold": each.hold,
                "parent": str(each.parent),
                "gives": each.gives,
                "answer": each.answer,
            }
            for each in told.holds
        ],
        "slots": [
            {"slot": each.slot, "state": each.state, "node": each.node, "why": each.why}
            for each in told.slots
        ],
        "nodes": [{"node": each.room.node, "answer": each.answer} for each in told.nodes],
        "next": told.next_step,
    }
