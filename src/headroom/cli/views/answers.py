"""The parts of an explanation: a sentence, facts, and the answers of holds, slots and nodes.

These are pure values. `pods`, `holds`, `headrooms` and `orders` create them; the command `explain`
prints them as text or as a document.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from headroom.cli.views.rooms import NodeRoom
from headroom.core.names import API_VERSION
from headroom.core.objects import Key, Parent, identity


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact, and what it is about."""

    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class HoldAnswer:
    """What one hold, or one slot of a headroom, means for a pod; `gives`: the pod would get it.

    Slots of one headroom have the same `group`, also if each is an object of its own.
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
    """The state of one slot of a headroom; `why` explains it if it is not simply held."""

    slot: str
    state: str
    node: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """The answer of one node; `room` is how full it is, an empty `answer` means it fits."""

    room: NodeRoom
    answer: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A whole explanation; `by_node`: the answers of the nodes already cover every slot."""

    subject: str
    summary: str
    facts: tuple[Fact, ...] = ()
    holds: tuple[HoldAnswer, ...] = ()
    slots: tuple[SlotAnswer, ...] = ()
    nodes: tuple[NodeAnswer, ...] = ()
    next_step: str = ""
    by_node: bool = False


def called(parent: Parent) -> str:
    """The name of a hold or a slot in a sentence."""
    name = f"{parent.kind.lower()} {Key(parent.namespace, parent.name)}"
    return f"slot {parent.slot} of {name}" if parent.slot else name


def as_document(told: Explanation) -> dict[str, Any]:
    """An explanation for programs."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "subject": told.subject,
        "summary": told.summary,
        "facts": [asdict(fact) for fact in told.facts],
        "holds": [
            {
                "hold": each.hold,
                "parent": str(each.parent),
                "gives": each.gives,
                "answer": each.answer,
            }
            for each in told.holds
        ],
        "slots": [asdict(each) for each in told.slots],
        "nodes": [{"node": each.room.node, "answer": each.answer} for each in told.nodes],
        "next": told.next_step,
    }
