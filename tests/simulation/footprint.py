"""How much an object remembers: the lengths of all that it holds, by where it is held.

Used to find leaks without knowing where to look: in an emptied world an operator that has lived for
days must remember no more than one that was started a moment ago.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from headroom.engine import agenda, assumptions, ledger, status_writer
from headroom.runtime import eventlimits
from headroom.scheduling import nodes

DESCENDED = ("headroom.engine", "headroom.scheduling", "headroom.runtime")
SLACK = 20  # entries of one kind that may differ: what was looked at last, names of nodes
BOUNDED = {
    "_buckets": eventlimits.MOST_OBJECTS,
    "_answers": nodes.MAX_ANSWERS,
    "_ended": assumptions.MOST_ENDED,
    "gone_nodes": ledger.MOST_GONE_NODES,
    "_namespaces": status_writer.SPARE_NAMESPACES,
    "numbers": 2 * 64,  # of a topology label's values, in the smallest table of nodes
    "_names": 64,  # rows of the smallest table of nodes
    "_spare": 64,
    "nodes": 64,
    "_timers": agenda.SPARE_TIMERS,
    "_changed": 4 * 64,  # of the smallest table of nodes
    "_moved": 4 * 64,
    "_weights": nodes.MAX_WEIGHTS,
    "_weighed_once": nodes.MAX_WEIGHTS,
}  # by attribute: has a bound of its own, and forgets the oldest


def footprint(root: object) -> Counter[str]:
    """Lengths by path of attributes; what is inside the entries of a container counts together."""
    found: Counter[str] = Counter()
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        path, thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, dict):
            found[path] += len(thing)
            waiting += [(f"{path}[]", each) for each in thing.values()]
        elif isinstance(thing, list | set | deque):
            found[path] += len(thing)
            waiting += [(f"{path}[]", each) for each in thing]
        elif type(thing).__module__.startswith(DESCENDED):
            waiting += [(f"{path}.{name}", each) for name, each in _parts(thing)]
    return found


def left_over(old: Counter[str], fresh: object) -> list[str]:
    """Where the old one remembers more than a fresh one does, in words."""
    return grown(footprint(fresh), old, SLACK)


def grown(small: Counter[str], large: Counter[str], slack: int) -> list[str]:
    """Where there is more than before, or than in a fresh one, in words."""
    return [
        f"{path} has {count} entries, not {small[path]}"
        for path, count in sorted(large.items())
        if count > small[path] + BOUNDED.get(path.rpartition(".")[2], slack)
    ]


def _parts(thing: object) -> list[tuple[str, Any]]:
    names = dict.fromkeys(getattr(thing, "__dict__", ()))
    for kind in type(thing).__mro__:
        names |= dict.fromkeys(getattr(kind, "__slots__", ()))
    return [(name, getattr(thing, name)) for name in names if hasattr(thing, name)]
