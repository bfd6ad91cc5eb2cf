"""Write the condition under which something exists as a short test of switches.

A combination is the set of switches that are on. A condition is the set of combinations in which
something exists; combinations that never occur may be counted either way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Combination: TypeAlias = frozenset[str]
Condition: TypeAlias = frozenset[Combination]
# The switches that have to be on, and those that have to be off.
Cube: TypeAlias = tuple[frozenset[str], frozenset[str]]


def cubes(when: Condition, universe: Condition) -> list[Cube]:
    """Conjunctions that hold in exactly these combinations of the universe."""
    off = universe - when
    switches = sorted(set().union(*universe)) if universe else []
    found: list[Cube] = []
    for combination in sorted(when, key=lambda each: (len(each), sorted(each))):
        if any(holds(cube, combination) for cube in found):
            continue
        found.append(_grown(combination, switches, off))
    for cube in [*found]:  # One after the other: two may each be needless beside the other.
        others = [other for other in found if other != cube]
        if all(any(holds(other, each) for other in others) for each in when if holds(cube, each)):
            found = others
    return found


def holds(cube: Cube, combination: Combination) -> bool:
    """Whether a conjunction is true for a combination."""
    on, off = cube
    return on <= combination and not off & combination


def expression(when: Condition, universe: Condition, tests: Mapping[str, str]) -> str:
    """The condition in the language of templates."""
    parts = [_conjunction(cube, tests) for cube in cubes(when, universe)]
    return parts[0] if len(parts) == 1 else f"or {' '.join(map(_bracketed, parts))}"


def _grown(combination: Combination, switches: list[str], off: Condition) -> Cube:
    """Remove every switch that need not be tested; those that are off first."""
    asked_on = set(combination)
    asked_off = set(switches) - asked_on
    for asked in (asked_off, asked_on):
        for switch in sorted(asked):
            asked.discard(switch)
            cube = (frozenset(asked_on), frozenset(asked_off))
            if any(holds(cube, each) for each in off):
                asked.add(switch)
    return frozenset(asked_on), frozenset(asked_off)


def _conjunction(cube: Cube, tests: Mapping[str, str]) -> str:
    on, off = cube
    parts = [tests[switch] for switch in sorted(on)]
    parts += [f"not {_bracketed(tests[switch])}" for switch in sorted(off)]
    return parts[0] if len(parts) == 1 else f"and {' '.join(map(_bracketed, parts))}"


def _bracketed(text: str) -> str:
    return f"({text})" if " " in text else text
