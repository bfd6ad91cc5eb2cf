"""Nodes as bars of characters, the cluster first: the picture of `headroom top -w`. Pure.

    cluster      │████████▓▓░░░     │  70% +  10% held 3 nodes
    general-0    │██████████▓▓░░░   │  80% +  20% held

Every line fits the width; a long text is cut within its own column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headroom.cli.amounts import hundredths, shown
from headroom.cli.playback.view import BLOCKS, Glyphs, PieceUse
from headroom.terminal_text import one_line

USES = (PieceUse.USED, PieceUse.CLAIMED, PieceUse.HELD)
SORTS = ("free", "held", "name")
NARROW, NARROW_WORDS = 64, 9
MOST_NAME, LEAST_NAME = 32, 14
LEAST_BAR = 8


@dataclass(frozen=True, slots=True)
class Look:
    """The options of the picture."""

    resource: str = "cpu"
    sort: str = "free"
    filter: str = ""
    width: int = 80
    height: int = 0  # available lines; 0: no limit
    glyphs: Glyphs = BLOCKS

    @property
    def cut(self) -> str:
        """The text for what is left out."""
        return "~" if self.glyphs.edge.isascii() else "…"


@dataclass(frozen=True, slots=True)
class _Bar:
    name: str
    whole: int
    parts: tuple[int, int, int]
    state: str = ""

    @property
    def free(self) -> int:
        return self.whole - sum(self.parts)


def top_lines(sections: Mapping[str, Any], look: Look) -> list[str]:
    """The lines of the picture: the cluster, its nodes, and guardians that wait for room."""
    bars = [_bar(name, row, look.resource) for name, row in sections["nodes"].items()]
    wanted = look.filter.lower()
    chosen = [bar for bar in bars if wanted in f"{bar.name} {bar.state}".lower()]
    chosen.sort(key=lambda bar: _order(bar, look.sort))
    parts = [tuple(bar.parts[index] for bar in chosen) for index in range(len(USES))]
    total = _Bar(
        "cluster",
        sum(bar.whole for bar in chosen),
        (sum(parts[0]), sum(parts[1]), sum(parts[2])),
        f"{len(chosen)} node{'' if len(chosen) == 1 else 's'}",
    )
    names = max((len(bar.name) for bar in chosen), default=0)
    column = max(LEAST_NAME, min(names, MOST_NAME, look.width // 3))
    waiting = _waiting_lines(sections["waiting"], look, column)
    room = look.height - len(waiting) - 3 if look.height else len(chosen)
    if len(chosen) > room:
        room = max(1, room - 1)  # A line says how many more there are.
    narrow = look.width < NARROW
    head = _words(replace(total, state="") if narrow else total, narrow)
    told = [(bar, _words(bar, narrow)) for bar in chosen[:room]]
    # Columns have one width, so that bars can be compared.
    wide = max(len(words) for words in (head, *(words for _, words in told)))
    lines = [_line(total, look, column, head.ljust(wide)), ""]
    lines += [_line(bar, look, column, words.ljust(wide)) for bar, words in told]
    if len(chosen) > room:
        lines.append(
            f"{look.cut} and {len(chosen) - room} more nodes: --filter finds them"[: look.width]
        )
    return [*lines, *waiting, _legend(look, total)]


def _bar(name: str, row: Mapping[str, Any], resource: str) -> _Bar:
    used, claimed, held = (int(row[use.value].get(resource, 0)) for use in USES)
    return _Bar(
        one_line(name), int(row["whole"].get(resource, 0)), (used, claimed, held), row["state"]
    )


def _order(bar: _Bar, sort: str) -> tuple[float, str]:
    if sort == "held":
        return -bar.parts[2], bar.name
    if sort == "free":
        return (bar.free / bar.whole if bar.whole else 1.0), bar.name
    return 0.0, bar.name


def _line(bar: _Bar, look: Look, column: int, words: str) -> str:
    space = look.width - column - len(words) - 2
    drawn = _drawn(bar, look.glyphs, space) if space >= LEAST_BAR else ""
    name = bar.name if len(bar.name) <= column else f"{bar.name[: column - 1]}{look.cut}"
    return f"{name.ljust(column)} {drawn} {words}"[: look.width].rstrip()


def _words(bar: _Bar, narrow: bool) -> str:
    used, claimed, held = bar.parts
    used, held = hundredths(used + claimed, bar.whole), hundredths(held, bar.whole)
    if narrow:
        return bar.state[:NARROW_WORDS] or f"{used:>3}%+{held:>3}%"
    state = f" {bar.state}" if bar.state else ""
    return f"{used:>3}% + {held:>3}% held{state}"


def _drawn(bar: _Bar, glyphs: Glyphs, width: int) -> str:
    inner = width - 2 * len(glyphs.edge)
    whole = max(bar.whole, sum(bar.parts), 1)
    text, seen, drawn = "", 0, 0
    for use, part in zip(USES, bar.parts, strict=True):
        seen += part
        end = inner * seen // whole
        if part and end == drawn and drawn < inner:
            end += 1  # Anything above zero is visible.
        text += glyphs.fill[use] * (end - drawn)
        drawn = end
    return f"{glyphs.edge}{text[:inner].ljust(inner)}{glyphs.edge}"


def _waiting_lines(waiting: Mapping[str, Any], look: Look, column: int) -> list[str]:
    """Guardians without a node, by their parent; and how many other pods wait."""
    groups: dict[str, list[int]] = {}
    others = 0
    for row in waiting.values():
        if row["guardian"]:
            whole = str(row["guardian"]).partition("#")[0]
            groups.setdefault(whole, []).append(int(row["requests"].get(look.resource, 0)))
        else:
            others += 1
    lines = [_waiting_line(name, sizes, look, column) for name, sizes in sorted(groups.items())]
    if others:
        lines.append(f"{others} pod{'' if others == 1 else 's'} without a node"[: look.width])
    return ["", *lines] if lines else []


def _waiting_line(name: str, sizes: Sequence[int], look: Look, column: int) -> str:
    marks = look.glyphs.edge.join(look.glyphs.fill[PieceUse.HELD] * 2 for _ in sizes[:10])
    amount = shown(look.resource, sum(sizes))
    words = f"waits: {len(sizes)} for {one_line(name)} ({look.resource} {amount})"
    return f"{'no node yet'.ljust(column)} {marks} {words}"[: look.width]


def _legend(look: Look, total: _Bar) -> str:
    parts = [
        f"{look.glyphs.fill[use]} {use.value} {shown(look.resource, part)}"
        for use, part in zip(USES, total.parts, strict=True)
    ]
    return f"{look.resource}: {'  '.join(parts)}  free {shown(look.resource, total.free)}"[
        : look.width
    ]
