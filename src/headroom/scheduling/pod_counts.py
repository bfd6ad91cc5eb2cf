"""Counts of pods by kind and node, updated pod by pod.

Spreading and affinity need the number of pods that match a selector, by node, for every pod that is
scheduled. Pods are therefore grouped by namespace and labels, each group is matched once, and its
tally is then updated with every pod. The terms of existing pods are counted in the same way. It
uses `terms`; `state` uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from headroom.core.objects import Pod
from headroom.scheduling.nodes import Ints, grown
from headroom.scheduling.terms import Labels, Term, term_of

MAX_TALLIES = 256
"""How many questions about pods are kept; the least recently used is dropped first."""

K = TypeVar("K")
Predicate = Callable[[str, Labels], bool]


@dataclass(slots=True)
class Tally:
    """A number for each row; `total` is their sum."""

    by_row: Ints
    total: int = 0

    def add(self, row: int, amount: int) -> None:
        if row >= self.by_row.shape[0]:
            self.by_row = grown(self.by_row, max(row + 1, 2 * self.by_row.shape[0]))
        self.by_row[row] += amount
        self.total += amount

    def copy(self) -> Tally:
        return Tally(self.by_row.copy(), self.total)

    def vector(self, capacity: int) -> Ints:
        """The numbers as a vector of length `capacity`."""
        self.by_row = grown(self.by_row, capacity)
        return self.by_row[:capacity]


@dataclass(slots=True)
class _Followed:
    predicate: Predicate
    ending_too: bool
    tally: Tally


@dataclass(slots=True)
class _Group:
    """Pods with equal namespace and labels: by row, how many stay and how many end."""

    namespace: str
    labels: Labels
    staying: dict[int, int] = field(default_factory=dict)
    ending: dict[int, int] = field(default_factory=dict)
    followers: list[_Followed] = field(default_factory=list)


@dataclass(slots=True)
class PodTallies:
    """Pods by group, and their tallies."""

    _groups: dict[tuple[str, frozenset[tuple[str, str]]], _Group] = field(default_factory=dict)
    _followed: dict[Hashable, _Followed] = field(default_factory=dict)

    def move(self, pod: Pod, row: int, amount: int) -> None:
        """Add (1) or subtract (-1) a pod on a row."""
        key = (pod.rules_namespace, frozenset(pod.labels.items()))
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(pod.rules_namespace, pod.labels)
            for followed in self._followed.values():
                self._follow(group, followed)
        ending = pod.deleted is not None
        bump(group.ending if ending else group.staying, row, amount)
        for followed in group.followers:
            if followed.ending_too or not ending:
                followed.tally.add(row, amount)
        if not group.staying and not group.ending:
            del self._groups[key]

    def tally(self, question: Hashable, predicate: Predicate, *, ending_too: bool) -> Tally:
        """The tally of pods that match `predicate`; `question` must identify it completely."""
        followed = self._followed.pop(question, None)
        if followed is None:
            followed = _Followed(predicate, ending_too, Tally(np.zeros(64, np.int64)))
            for group in self._groups.values():
                self._follow(group, followed)
            if len(self._followed) >= MAX_TALLIES:
                self._drop(next(iter(self._followed)))
        self._followed[question] = followed
        return followed.tally

    def forget_questions(self) -> None:
        """Drop all tallies, because an input of the predicates has changed."""
        for question in list(self._followed):
            self._drop(question)

    def _follow(self, group: _Group, followed: _Followed) -> None:
        if not followed.predicate(group.namespace, group.labels):
            return
        group.followers.append(followed)
        for row, amount in group.staying.items():
            followed.tally.add(row, amount)
        if followed.ending_too:
            for row, amount in group.ending.items():
                followed.tally.add(row, amount)

    def _drop(self, question: Hashable) -> None:
        dropped = self._followed.pop(question)
        for group in self._groups.values():
            group.followers = [one for one in group.followers if one is not dropped]


@dataclass(slots=True)
class SupposedTallies(PodTallies):
    """The tallies of others, as if some pods had been added and removed."""

    base: PodTallies = field(default_factory=PodTallies)
    _moved: list[tuple[Pod, int, int]] = field(default_factory=list)

    def tally(self, question: Hashable, predicate: Predicate, *, ending_too: bool) -> Tally:
        followed = self._followed.get(question)
        if followed is None:
            known = self.base.tally(question, predicate, ending_too=ending_too)
            followed = _Followed(predicate, ending_too, known.copy())
            self._followed[question] = followed
            for move in self._moved:
                _count(followed, *move)
        return followed.tally

    def move(self, pod: Pod, row: int, amount: int) -> None:
        self._moved.append((pod, row, amount))
        for followed in self._followed.values():
            _count(followed, pod, row, amount)


def _count(followed: _Followed, pod: Pod, row: int, amount: int) -> None:
    counts = followed.ending_too or pod.deleted is None
    if counts and followed.predicate(pod.rules_namespace, pod.labels):
        followed.tally.add(row, amount)


@dataclass(frozen=True, slots=True)
class HeldTerm:
    """A term of pods on nodes; `weight` is negative for anti-affinity."""

    term: Term
    weight: int


@dataclass(slots=True)
class TermTallies:
    """The terms of existing pods: how many pods on which row have each."""

    repelling: dict[Term, Tally] = field(default_factory=dict)
    attracting: dict[HeldTerm, Tally] = field(default_factory=dict)

    def move(self, pod: Pod, row: int, amount: int) -> None:
        """Add (1) or subtract (-1) the terms of a pod on a row."""
        for term in required_anti_terms(pod):
            _tally_of(self.repelling, term, row, amount)
        for held in scoring_terms(pod):
            _tally_of(self.attracting, held, row, amount)


def required_anti_terms(pod: Pod) -> Iterator[Term]:
    """The terms by which a pod keeps others out of its domains."""
    for term in pod.placement.pod_anti_affinity.required:
        yield term_of(term, pod)


def scoring_terms(pod: Pod) -> Iterable[HeldTerm]:
    """The terms of a pod that attract or repel others.

    A required affinity counts with kube-scheduler's hardPodAffinityWeight of 1.
    """
    placement = pod.placement
    for required in placement.pod_affinity.required:
        yield HeldTerm(term_of(required, pod), 1)
    for preferred in placement.pod_affinity.preferred:
        yield HeldTerm(term_of(preferred.term, pod), preferred.weight)
    for preferred in placement.pod_anti_affinity.preferred:
        yield HeldTerm(term_of(preferred.term, pod), -preferred.weight)


def bump(counts: dict[int, int], row: int, amount: int) -> None:
    """Add to the number of a row; rows with zero are left out."""
    left = counts.get(row, 0) + amount
    if left:
        counts[row] = left
    else:
        del counts[row]


def _tally_of(tallies: dict[K, Tally], key: K, row: int, amount: int) -> None:
    tally = tallies.get(key)
    if tally is None:
        tally = tallies[key] = Tally(np.zeros(64, np.int64))
    tally.add(row, amount)
    if not tally.total:
        del tallies[key]
