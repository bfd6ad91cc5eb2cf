"""The picture of a cluster in `headroom demo`: a bar for each node, a segment for each pod.

    general-0  │web██████████│checkout ▒▒▒▒│            │  4 cpu

Pure functions: pods and nodes in, a `Picture` out. A picture becomes plain lines (for a pipe or a
test) or rich text with colours. What is used, held, claimed and free is decided once, for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from headroom.cli.amounts import cores
from headroom.core.names import CLAIMED_ANNOTATION, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Node, Pod
from headroom.core.resources import CPU
from headroom.terminal_text import one_line

if TYPE_CHECKING:
    from rich.text import Text

BAR_WIDTH = 48


class PieceUse(StrEnum):
    """The use of a part of a node."""

    USED = "used"
    CLAIMED = "claimed"
    HELD = "held"
    FREE = "free"


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters of a bar: one for each use, and the separator between two pods."""

    fill: dict[PieceUse, str]
    edge: str


BLOCKS = Glyphs(
    {PieceUse.USED: "█", PieceUse.CLAIMED: "▓", PieceUse.HELD: "░", PieceUse.FREE: " "}, "│"
)
ASCII = Glyphs(
    {PieceUse.USED: "#", PieceUse.CLAIMED: "@", PieceUse.HELD: "=", PieceUse.FREE: " "}, "|"
)
STYLES = {
    PieceUse.USED: "black on steel_blue1",
    PieceUse.CLAIMED: "black on green3",
    PieceUse.HELD: "black on gold1",
    PieceUse.FREE: "on grey15",
}


@dataclass(frozen=True, slots=True)
class Segment:
    """A pod's part of a node, or the free rest; `amount` in thousandths of a core."""

    use: PieceUse
    label: str
    amount: int


@dataclass(frozen=True, slots=True)
class Bar:
    node: str
    capacity: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """All nodes, and the pods without a node."""

    bars: tuple[Bar, ...]
    waiting: tuple[str, ...]

    def total(self, use: PieceUse) -> int:
        """The sum of one use over all nodes, in thousandths of a core."""
        return sum(part.amount for bar in self.bars for part in bar.segments if part.use is use)


def picture(nodes: Iterable[Node], pods: Iterable[Pod]) -> Picture:
    """Build the picture of a cluster's CPU: where pods are, what is held, which pods wait."""
    alive = sorted(
        (pod for pod in pods if not pod.finished), key=lambda pod: (pod.created is None, pod.key)
    )
    on_node: dict[str, list[Pod]] = {}
    for pod in alive:
        on_node.setdefault(pod.node, []).append(pod)
        if not pod.node and pod.nominated and ROLE_LABEL not in pod.labels:
            on_node.setdefault(pod.nominated, []).append(pod)
    bars = tuple(_bar(node, on_node.get(node.name, [])) for node in sorted(nodes, key=_by_age))
    waiting = tuple(
        f"{pod.key.name} ({cores(pod.requests[CPU])} cpu)"
        for pod in on_node.get("", [])
        if ROLE_LABEL not in pod.labels
    )
    return Picture(bars, waiting)


def plain(shown: Picture, glyphs: Glyphs = BLOCKS, width: int = BAR_WIDTH) -> list[str]:
    """Draw with plain characters."""
    names = _name_width(shown)
    lines = [
        f"{bar.node.ljust(names)}  {_plain_bar(bar, glyphs, _columns(bar, shown, width))}"
        f"  {cores(bar.capacity)} cpu"
        for bar in shown.bars
    ]
    return [*lines, *_footer(shown, glyphs)]


def coloured(shown: Picture, glyphs: Glyphs = BLOCKS, width: int = BAR_WIDTH) -> Text:
    """Draw for a terminal."""
    from rich.text import Text

    names = _name_width(shown)
    text = Text()
    for bar in shown.bars:
        text.append(f"{bar.node.ljust(names)}  ", style="bold")
        for part, columns in _split(bar, _columns(bar, shown, width)):
            text.append(glyphs.edge, style=STYLES[part.use])
            text.append(_label(part.label, columns - 1).ljust(columns - 1), style=STYLES[part.use])
        text.append(f"  {cores(bar.capacity)} cpu\n", style="dim")
    legend = [use for use in PieceUse if shown.total(use)]
    for use in legend:
        text.append("  ", style=STYLES[use])
        text.append(f" {use.value} {cores(shown.total(use))}   ")
    text.append("\n")
    text.append(_waiting_line(shown), style="bold red" if shown.waiting else "dim")
    return text


def _by_age(node: Node) -> tuple[str, str]:
    """Oldest first, so that a new node appears at the bottom and no other node moves."""
    return (node.created.isoformat() if node.created else "", node.name)


def _bar(node: Node, pods: Sequence[Pod]) -> Bar:
    capacity = node.allocatable[CPU]
    segments = [_segment(pod) for pod in pods if pod.requests[CPU] > 0]
    # Guardians last, so that held room is next to free room.
    order = {PieceUse.USED: 0, PieceUse.CLAIMED: 1, PieceUse.HELD: 2}
    segments.sort(key=lambda part: (order[part.use], part.label))
    free = capacity - sum(part.amount for part in segments)
    if free > 0:
        segments.append(Segment(PieceUse.FREE, "", free))
    return Bar(one_line(node.name), capacity, tuple(segments))


def _segment(pod: Pod) -> Segment:
    amount = pod.requests[CPU]
    if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN:
        return Segment(PieceUse.HELD, "held", amount)
    if not pod.node:  # Nominated: kube-scheduler counts it, so the room is as good as held.
        return Segment(PieceUse.HELD, f"for {one_line(pod.key.name)}", amount)
    use = PieceUse.CLAIMED if CLAIMED_ANNOTATION in pod.annotations else PieceUse.USED
    return Segment(use, one_line(pod.labels.get("app", pod.key.name)), amount)


def _split(bar: Bar, width: int) -> list[tuple[Segment, int]]:
    """Divide the columns of a bar; rounding never changes its length."""
    shares: list[tuple[Segment, int]] = []
    whole = max(bar.capacity, sum(part.amount for part in bar.segments), 1)
    seen = 0
    drawn = 0
    for part in bar.segments:
        seen += part.amount
        end = max(drawn + 2, width * seen // whole)
        shares.append((part, end - drawn))
        drawn = end
    return shares


def _columns(bar: Bar, shown: Picture, width: int) -> int:
    largest = max(each.capacity for each in shown.bars)
    return max(8, width * bar.capacity // max(largest, 1))


def _plain_bar(bar: Bar, glyphs: Glyphs, width: int) -> str:
    pieces = [
        glyphs.edge + _label(part.label, columns - 1).ljust(columns - 1, glyphs.fill[part.use])
        for part, columns in _split(bar, width)
    ]
    return "".join(pieces) + glyphs.edge


def _label(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(0, room - 1)] + "…" if room > 1 else ""


def _name_width(shown: Picture) -> int:
    return max((len(bar.node) for bar in shown.bars), default=0)


def _footer(shown: Picture, glyphs: Glyphs) -> list[str]:
    legend = "   ".join(
        f"{glyphs.fill[use] * 2} {use.value} {cores(shown.total(use))}".strip()
        for use in PieceUse
        if shown.total(use)
    )
    return [legend, _waiting_line(shown)]


def _waiting_line(shown: Picture) -> str:
    return (
        f"waiting: {', '.join(map(one_line, shown.waiting))}" if shown.waiting else "nobody waits"
    )
