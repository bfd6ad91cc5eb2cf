"""The stories of `headroom demo`: a scenario each, and the text for it.

A scenario is an ordinary file for `headroom simulate`. This module adds the rest: when to show a
picture, which text, and which pods to compare at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "stories"


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture with its text, at a time in virtual seconds since the start."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Story:
    name: str
    title: str
    scenes: tuple[Scene, ...]
    cast: tuple[tuple[str, str], ...]  # pod → its name in the summary
    next_step: str
    lesson: str = ""  # what the story shows, if the waiting times alone do not show it

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.yaml"


THIEF = Story(
    "thief",
    "an owner starts at once while the same pod without a hold waits for a node",
    (
        Scene(8, "Three nodes, five web pods: room for one pod of 2 cpu is left, somewhere."),
        Scene(14, "A Hold asks for it. Its guardian, a pause pod, keeps the room: just a pod."),
        Scene(
            26, "A thief wants 2 cpu. Every scheduler sees a full cluster. A node must boot: 90 s."
        ),
        Scene(
            33,
            "The owner comes, and its twin: the same pod without a hold. "
            "The owner has the guardian's room at once. The thief, first in line, got nothing.",
        ),
        Scene(75, "The twin waits for a node, as everybody does without headroom."),
        Scene(150, "The node is there. The thief and the twin start too."),
    ),
    (
        ("checkout", "the owner of the hold"),
        ("twin", "the same pod, no hold"),
        ("thief", "a rival, first in line"),
    ),
    "headroom simulate FILE…  runs your own manifests like this; headroom demo --list has more",
)
CRASH = Story(
    "crash",
    "the operator is killed in the middle of a handover, with rivals waiting",
    (
        Scene(15, "Two nodes, three web pods, and a Hold on what is left."),
        Scene(25, "Two rivals wait for exactly that room."),
        Scene(30.5, "The owner came, the handover began, and the operator was killed half-way."),
        Scene(
            39,
            "Nobody acts. The room stays promised: the owner's nomination keeps the rivals out.",
        ),
        Scene(
            50, "The operator is back, reads what is there, and finishes. Nothing is left behind."
        ),
    ),
    (
        ("checkout", "the owner, operator killed"),
        ("rival-a", "a rival"),
        ("rival-b", "a rival"),
    ),
    "docs/concepts/handover.md says why nobody slips in between",
)
REUSE = Story(
    "reuse",
    "one hold for many owners: what one returns is held again",
    (
        Scene(15, "A reusable Hold keeps 2 cpu for the team's jobs."),
        Scene(25, "job-1 takes one of them; the guardian shrinks to what is left."),
        Scene(35, "job-2 takes the other. The hold has no guardian now: all of it is in use."),
        Scene(70, "job-1 has ended: what it used is held again."),
        Scene(110, "All of it is back."),
    ),
    (("job-1", "the first owner"), ("job-2", "the second owner")),
    "docs/concepts/hold.md has the life of a hold",
)
PERNODE = Story(
    "pernode",
    "a slice of every node for bursts: kept by a DaemonSet of pause pods, and by a Headroom",
    (
        Scene(8, "Four nodes of 2 cpu. On two a DaemonSet keeps 500m each, on two a Headroom."),
        Scene(25, "Ordinary pods take all the rest, on all four alike. The cluster is full."),
        Scene(
            36,
            "A burst comes to each side, more important than all others. On recipe-* it preempts: "
            "kube-scheduler evicts an ordinary pod and spares the pause pods. "
            "On held-* it gets the slot, and nobody is evicted.",
        ),
        Scene(
            60,
            "Another burst for each. Two ordinary pods now wait on the one side, none on the "
            "other. Guardians wait for room as well: they never preempt.",
        ),
        Scene(100, "The bursts have ended. Everybody sits again, and every slot is held again."),
    ),
    (
        ("burst-held", "a burst, room kept by a Headroom"),
        ("burst-recipe", "a burst, room kept by a DaemonSet"),
        ("burst-held-2", "the next one, Headroom"),
        ("burst-recipe-2", "the next one, DaemonSet"),
    ),
    "docs/guides/standing-headroom.md has the manifests; docs/concepts/blueprint.md says why",
    "All four bursts got room at once. The DaemonSet's two cost an ordinary pod each; "
    "the Headroom's two cost nobody anything.",
)
OFFICE_HOURS = Story(
    "office-hours",
    "capacity for the morning, by the clock in Zurich: there when the office opens, gone at night",
    (
        Scene(240, "07:54 in Zurich. One node, full. Nothing is held: it is still night."),
        Scene(
            305,
            "07:55. The window opens five minutes early (leadTime). Four guardians ask for "
            "room, and a node boots for them.",
        ),
        Scene(480, "07:58. The node is there. Four slots are held, before anybody came."),
        Scene(
            605,
            "08:00. The shop's pod has a slot at once; a report without headroom waits for a node. "
            "The slot is refilled, as soon as there is room.",
        ),
        Scene(720, "08:02. The report has its node too."),
        Scene(36605, "18:00. The window has ended: all slots are given back, within seconds."),
        Scene(37700, "18:18. Nobody needs the nodes of the day. The autoscaler took them away."),
    ),
    (("shop", "an owner, at eight"), ("report", "the same pod, no headroom")),
    "docs/guides/standing-headroom.md has this and other schedules",
)
STORIES = (THIEF, CRASH, REUSE, PERNODE, OFFICE_HOURS)


def find_story(name: str) -> Story | None:
    """The story with this name; the first one if the name is empty."""
    if not name:
        return STORIES[0]
    return next((story for story in STORIES if story.name == name), None)
