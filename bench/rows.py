"""Rows of the page: what was measured, beside which yardstick of the same run, against which aim.

Every benchmark that has a row on the page takes `--rows FILE` and writes its rows there as JSON;
`page` collects them. Neighbours: `page` prints them, `comparing` puts two pages side by side.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]
MEASURED, RATIO = "measured", "ratio"
NO_MORE, NO_LESS = "≤", "≥"


class OddRows(Exception):
    """Rows that cannot be read; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What a row is to reach: at most or at least so much, of what was measured or of its ratio."""

    limit: float
    sign: str = NO_MORE
    of: str = MEASURED

    def is_met(self, value: float) -> bool:
        return value <= self.limit if self.sign == NO_MORE else value >= self.limit


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the page.

    `yardstick` is in the same unit, from the same run; its name says what it is. `scale` says how
    large the run was, and where the figure was worked out from a smaller one.
    """

    name: str
    measured: float
    unit: str
    yardstick_name: str = ""
    yardstick: float | None = None
    aim: Aim | None = None
    scale: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times the yardstick; None without one."""
        if not self.yardstick or not math.isfinite(self.yardstick):
            return None
        return self.measured / self.yardstick

    @property
    def met(self) -> bool | None:
        """Whether the aim is met; None where there is none, or nothing to judge by."""
        value = self.ratio if self.aim and self.aim.of == RATIO else self.measured
        if self.aim is None or value is None or not math.isfinite(value):
            return None
        return self.aim.is_met(value)

    def to_json(self) -> Json:
        aim = self.aim and {"sign": self.aim.sign, "limit": self.aim.limit, "of": self.aim.of}
        return {
            "name": self.name,
            "measured": _number_or_none(self.measured),
            "unit": self.unit,
            "yardstick": {"name": self.yardstick_name, "value": _number_or_none(self.yardstick)},
            "ratio": _number_or_none(self.ratio),
            "aim": aim,
            "met": self.met,
            "scale": self.scale,
        }


def row_from(found: object, where: str) -> Row:
    """Read a row back; what was derived is derived again."""
    thing = _mapping(found, where)
    yardstick = _mapping(thing.get("yardstick") or {}, f"{where}.yardstick")
    measured = _number(thing, "measured", where)
    return Row(
        name=_text(thing, "name", where),
        measured=math.nan if measured is None else measured,
        unit=_text(thing, "unit", where),
        yardstick_name=_text(yardstick, "name", f"{where}.yardstick"),
        yardstick=_number(yardstick, "value", f"{where}.yardstick"),
        aim=_aim(thing.get("aim"), f"{where}.aim"),
        scale=_text(thing, "scale", where),
    )


def rows_from(found: object, where: str) -> list[Row]:
    if not isinstance(found, list):
        raise OddRows(f"{where}: a list of rows is expected, this is {type(found).__name__}")
    return [row_from(each, f"{where}[{index}]") for index, each in enumerate(found)]


def _aim(found: object, where: str) -> Aim | None:
    if found is None:
        return None
    thing = _mapping(found, where)
    limit, sign, of = _number(thing, "limit", where), thing.get("sign"), thing.get("of")
    if limit is None or sign not in (NO_MORE, NO_LESS) or of not in (MEASURED, RATIO):
        raise OddRows(f"{where}: an aim needs limit, sign ({NO_MORE}, {NO_LESS}) and of")
    return Aim(limit, str(sign), str(of))


def _mapping(found: object, where: str) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise OddRows(f"{where}: an object is expected, this is {type(found).__name__}")
    return found


def _text(thing: Mapping[str, Any], name: str, where: str) -> str:
    found = thing.get(name, "")
    if not isinstance(found, str):
        raise OddRows(f"{where}.{name}: a text is expected")
    return found


def _number(thing: Mapping[str, Any], name: str, where: str) -> float | None:
    found = thing.get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise OddRows(f"{where}.{name}: a number is expected")
    return float(found)


def _number_or_none(value: float | None) -> float | None:
    """JSON has no nan."""
    return value if value is not None and math.isfinite(value) else None


def add_option(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark be asked for its rows."""
    parser.add_argument("--rows", type=Path, metavar="FILE", help="write the page's rows here")


def write(path: Path | None, rows: Iterable[Row]) -> None:
    """Write rows where `--rows` says; nothing where it was not given."""
    if path is not None:
        path.write_text(json.dumps([row.to_json() for row in rows], ensure_ascii=False, indent=1))
