"""A plan: sequences of writes to perform, and when to decide again if nothing else happens.

A sequence is a list of steps; the actions of a step go out together, and the next step only when
all of them are done. If one is not, the rest is dropped and decided afresh from what is then true:
that is also what happens after a crash, so there is one way to recover and not two.
While a sequence runs, its subjects are left alone by every other decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headroom.core.actions import Action
from headroom.core.objects import Key, Parent

Step = tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    """What to do, about whom, and what kind of work it is (for logs and metrics)."""

    work: str
    subjects: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    sequences: tuple[Sequence, ...] = ()
    wake_at: datetime | None = None


def pod_subject(key: Key) -> str:
    return f"pod {key}"


def hold_subject(parent: Parent) -> str:
    return f"hold {parent}"


def headroom_subject(parent: Parent) -> str:
    return f"headroom {parent.whole}"


def node_subject(name: str) -> str:
    return f"node {name}"


def namespace_of(subject: str) -> str:
    """The namespace of a subject; empty for what lives in none, such as a node.

    Pods are named `namespace/name`, all that has a kind `Kind/namespace/name`.
    """
    kind, _, name = subject.partition(" ")
    if kind in ("pod", "follow"):
        return name.partition("/")[0]
    if kind == "index":
        return name
    return name.split("/", 2)[1] if name.count("/") >= 2 else ""


def latest(*moments: datetime | None) -> datetime | None:
    """The last of those moments that are set."""
    return max((moment for moment in moments if moment is not None), default=None)


def earliest(*moments: datetime | None) -> datetime | None:
    """The first of those moments that are set."""
    return min((moment for moment in moments if moment is not None), default=None)
