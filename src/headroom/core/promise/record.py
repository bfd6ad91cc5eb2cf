"""What was learnt, as text that people can read, and back.

One line for each thing that is kept, `name: numbers`; the first line names the version. The length
is bounded: parts of seasons, of spans and of factors are, and so are sizes and lead times. A record
that cannot be read, whole or in part, is refused: whoever asks starts over and says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, isfinite

from headroom.core.promise.achieved import Achieved
from headroom.core.promise.estimator import Learner
from headroom.core.promise.factors import CLASSES, Factors
from headroom.core.promise.forecast_weights import Weighing
from headroom.core.promise.lead_times import LONGEST, MOST_KEPT, LeadTimes
from headroom.core.promise.seasons import Season
from headroom.core.promise.stock import MOST_SLOTS, Stock

TITLE = "headroom promise record, version 2"
OLDER = "headroom promise record, version 1"
MOST_TEXT = 32_768
_MAY_BE_NEGATIVE = ("at", "feedback")


@dataclass(slots=True)
class History:
    """All that is kept of one headroom's promise."""

    stock: Stock
    achieved: Achieved = field(default_factory=Achieved)
    leads: LeadTimes = field(default_factory=LeadTimes)


class Damaged(ValueError):
    """A record that does not say what it should."""


def written(history: History) -> str:
    """The record of a history."""
    learner = history.stock.learner
    lines = {
        "ratio": [learner.ratio],
        "at": [learner.began if learner.began is not None else -1.0, learner.at, learner.steps],
        "pods": [learner.total],
        "averages": learner.averages,
        "mean": [learner.long_mean],
        "hour": _season(learner.hour),
        "day": _season(learner.day),
        "weights": learner.weighing.weights,
        **_weighing(learner.weighing),
        **_factors(learner.factors),
        "factor": [learner.factor],
        "feedback": [learner.leaning],
        # To the second: other numbers are written with four digits.
        "sizes": [float(each) for at, slots in history.stock.trail for each in (ceil(at), slots)],
        "leads": history.leads.lately,
        **{f"last {span}": _flat(parts) for span, parts in history.achieved.parts.items()},
    }
    told = (f"{name}: {' '.join(map(_number, values))}".rstrip() for name, values in lines.items())
    return "\n".join((TITLE, *told))


def read(text: str, ratio: float) -> History:
    """The history of a record, for a promise to this part of the pods; Damaged says what is wrong.

    A record of another ratio is of the same demand: what was learnt counts, feedback does not.
    """
    if len(text) > MOST_TEXT:
        raise Damaged(f"it has {len(text)} characters; {MOST_TEXT} are the most")
    first, _, rest = text.partition("\n")
    if first.strip() not in (TITLE, OLDER):
        raise Damaged(f"it begins with {first[:60]!r}, not with {TITLE!r}")
    lines = dict(_line(line) for line in rest.splitlines() if line.strip())
    for name, numbers in lines.items():
        if name not in _MAY_BE_NEGATIVE and min(numbers, default=0.0) < 0.0:
            raise Damaged(f"{name[:60]} has a number below zero")
    try:
        return _history(_renewed(lines) if first.strip() == OLDER else lines, ratio)
    except Damaged:
        raise
    except (KeyError, IndexError, ValueError) as error:
        raise Damaged(f"{error} is missing or too short") from error


def _history(lines: Mapping[str, list[float]], ratio: float) -> History:
    began, at, steps = _sized("at", lines, 3)
    learner = Learner(ratio)
    same = abs(lines["ratio"][0] - ratio) < 1e-9
    learner.began = began if began >= 0.0 else None
    learner.at, learner.steps, learner.total = at, int(steps), lines["pods"][0]
    learner.averages = _sized("averages", lines, len(learner.averages))
    learner.long_mean = lines["mean"][0]
    _fill(learner.hour, _sized("hour", lines, 2 * learner.hour.parts))
    _fill(learner.day, _sized("day", lines, 2 * learner.day.parts))
    count = len(learner.weighing.weights)
    squares = _sized("squares", lines, count * count)
    learner.weighing = Weighing(
        _sized("weights", lines, count),
        [squares[row * count : (row + 1) * count] for row in range(count)],
        _sized("products", lines, count),
    )
    learner.factors = Factors(
        _sparse("needed", lines), _sparse("used", lines), *_sized("seen", lines, 3)
    )
    learner.factor = lines["factor"][0]
    if same:
        (learner.leaning,) = _sized("feedback", lines, 1)
    spans = {span: _parts(lines[f"last {span}"]) for span in Achieved().parts}
    leads = LeadTimes(deque((min(each, LONGEST) for each in lines["leads"]), maxlen=MOST_KEPT))
    sizes = [min(int(each), MOST_SLOTS) for each in lines["sizes"][1::2]]
    trail = deque(zip(lines["sizes"][::2], sizes, strict=True))
    return History(Stock(learner, trail), Achieved(spans), leads)


def _renewed(lines: Mapping[str, list[float]]) -> dict[str, list[float]]:
    """Lines of version 1: it had one forecast less, and two numbers more of feedback."""
    count = len(lines["weights"])
    squares = _sized("squares", lines, count * count)
    rows = [[*squares[row * count : (row + 1) * count], 0.0] for row in range(count)]
    return {
        **lines,
        "weights": [*lines["weights"], 0.0],
        "squares": [*(number for row in rows for number in row), *[0.0] * (count + 1)],
        "products": [*lines["products"], 0.0],
        "feedback": lines["feedback"][-1:],
    }


def _line(line: str) -> tuple[str, list[float]]:
    name, colon, values = line.partition(":")
    if not colon:
        raise Damaged(f"the line {line[:60]!r} has no name")
    try:
        numbers = [float(each) for each in values.split()]
    except ValueError as error:
        raise Damaged(f"{name[:60]}: {error}") from error
    if not all(isfinite(each) and abs(each) < 1e15 for each in numbers):
        raise Damaged(f"{name[:60]} has a number that is out of range")
    return name.strip(), numbers


def _sized(name: str, lines: Mapping[str, list[float]], count: int) -> list[float]:
    values = lines[name]
    if len(values) != count:
        raise Damaged(f"{name} has {len(values)} numbers; {count} are needed")
    return values


def _sparse(name: str, lines: Mapping[str, list[float]]) -> list[float]:
    """Numbers of classes: pairs of a class and its value."""
    values, whole = lines[name], [0.0] * CLASSES
    for number, value in zip(values[::2], values[1::2], strict=True):
        if not 0 <= number < CLASSES or value < 0.0:
            raise Damaged(f"{name} has a class {number:g}")
        whole[int(number)] = value
    return whole


def _parts(values: list[float]) -> list[tuple[int, int, int]]:
    numbers = [int(value) for value in values]
    return list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))


def _fill(season: Season, values: list[float]) -> None:
    season.sums, season.weights = values[: season.parts], values[season.parts :]


def _season(season: Season) -> list[float]:
    return [*season.sums, *season.weights]


def _weighing(weighing: Weighing) -> dict[str, list[float]]:
    unit = weighing.unit
    return {
        "squares": [value / unit for row in weighing.squares for value in row],
        "products": [value / unit for value in weighing.products],
    }


def _factors(factors: Factors) -> dict[str, list[float]]:
    unit = factors.unit
    return {
        "needed": _pairs(factors.needed, unit),
        "used": _pairs(factors.used, unit),
        "seen": [factors.under / unit, factors.pods / unit, factors.steps / unit],
    }


def _pairs(values: list[float], unit: float) -> list[float]:
    told = ((float(at), value / unit) for at, value in enumerate(values) if value / unit >= 1e-4)
    return [number for pair in told for number in pair]


def _flat(parts: Iterable[tuple[int, int, int]]) -> list[float]:
    return [float(number) for part in parts for number in part]


def _number(value: float) -> str:
    """Short, and exact where it is a whole number."""
    return str(int(value)) if value == int(value) else f"{value:.4g}"
