"""Where the time of an owner goes, step by step, from the API server's audit log.

A handover is a chain of writes: the owner is created, then each write follows the answer to the one
before. `server` is the time of a write inside the API server. `before` is the time from the end of
the write before it: the answer, the network, the watch, and the client that decides and sends. Only
owners that come one after the other can be told apart, because a guardian does not name its owner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from bench.audit import Written

BIND = "create pods/binding"
CHAINS = {
    "free room": (BIND,),
    "door 1": ("patch pods/status", "delete pods", "patch pods", BIND),
    "door 2": ("patch pods/status", "delete pods", BIND),
}


ByKind = dict[str, list[Written]]


@dataclass(frozen=True)
class Step:
    """One write of the chain, in milliseconds: medians of all owners."""

    what: str
    before: float
    server: float


def steps_of(arm: str, owners: Iterable[str], writes: Sequence[Written]) -> list[Step]:
    """The steps from the creation of an owner to its binding; empty for an arm without a chain."""
    kinds = CHAINS.get(arm.removesuffix(" alone"))
    if kinds is None:
        return []
    done: ByKind = defaultdict(list)
    for write in writes:
        if write.code < 400:
            done[f"{write.verb} {write.what}"].append(write)
    chains = [chain for name in owners if (chain := _chain(kinds, name, done))]
    if not chains:
        return []
    columns = list(zip(*chains, strict=True))
    steps = [Step("create pods", 0.0, _median(each.ended - each.began for each in columns[0]))]
    for previous, column in pairwise(columns):
        pairs = zip(previous, column, strict=True)
        before = _median(after.began - earlier.ended for earlier, after in pairs)
        server = _median(each.ended - each.began for each in column)
        steps.append(Step(f"{column[0].verb} {column[0].what}", before, server))
    return steps


def in_words(steps: Iterable[Step]) -> str:
    """The steps in one line: the time before each write, the write, its time in the server."""
    return ", ".join(f"+{each.before:.2f} {each.what} {each.server:.2f}" for each in steps)


def table(arms: Mapping[str, Sequence[Step]]) -> str:
    """The steps of several arms, one line for each."""
    title = "ms before each write, and in the API server (medians)"
    lines = (f"{name:<13}{in_words(steps)}" for name, steps in arms.items() if steps)
    return "\n".join((title, *lines))


def _chain(kinds: Sequence[str], owner: str, done: ByKind) -> list[Written]:
    """The writes for one owner, found from its binding backwards; empty if one is missing."""
    created = next((each for each in done["create pods"] if each.name == owner), None)
    bound = next((each for each in done[kinds[-1]] if each.name == owner), None)
    if created is None or bound is None:
        return []
    chain = [bound]
    for kind in reversed(kinds[:-1]):
        since, until = created.ended, chain[0].began
        earlier = [each for each in done[kind] if since <= each.began and each.ended <= until]
        if not earlier:
            return []
        chain.insert(0, max(earlier, key=lambda each: each.ended))
    return [created, *chain]


def _median(seconds: Iterable[float]) -> float:
    return median(seconds) * 1000
