"""Which holds a pod requests, from Koordinator's annotations and label.

The annotations contain JSON that people write. An error in one becomes part of the request
(`problem`), so that the pod itself can still be decoded. Equal texts are decoded once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from headroom.core.objects import NO_LABELS, NO_WISH, NodeTerm, Toleration, Wish
from headroom.core.selector_validation import node_term_refusal, toleration_refusal
from headroom.dialects.koordinator.names import AFFINITY, EXACT, IGNORED
from headroom.wire.errors import DecodeError
from headroom.wire.objects.intern import Interned
from headroom.wire.objects.placement import TolerationJson, toleration_of
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import Reader
from headroom.wire.objects.selectors import NodeSelectorTerm, node_term


class _Required(JsonObject):
    reservation_selector_terms: list[NodeSelectorTerm] | None = None


class _ReservationAffinity(JsonObject):
    name: str | None = None
    required_during_scheduling_ignored_during_execution: _Required | None = None
    reservation_selector: dict[str, str] | None = None
    tolerations: list[TolerationJson] | None = None


class _Exact(JsonObject):
    resource_names: list[str] | None = None


class _SpelledWish(NamedTuple):
    affinity: str | None
    exact: str | None
    shuns: bool


_read_affinity = Reader(_ReservationAffinity)
_read_exact = Reader(_Exact)


def wish_of(labels: Mapping[str, str], annotations: Mapping[str, str]) -> Wish:
    """The request in a pod's labels and annotations; most pods have none."""
    shuns = labels.get(IGNORED) == "true"
    if annotations is NO_LABELS and not shuns:
        return NO_WISH
    affinity, exact = annotations.get(AFFINITY), annotations.get(EXACT)
    if affinity is None and exact is None and not shuns:
        return NO_WISH
    return _wishes(_SpelledWish(affinity, exact, shuns))


def _read(spelled: _SpelledWish) -> Wish:
    needs_hold = spelled.affinity is not None
    try:
        # An empty text counts as an empty object.
        text = (spelled.affinity or "{}").encode(errors="replace")
        affinity = _read_affinity(text, AFFINITY)
        text = (spelled.exact or "{}").encode(errors="replace")
        exact = _read_exact(text, EXACT)
    except DecodeError as error:
        problem = f"annotation {error.path}: {error.problem}"
        return Wish(needs_hold=needs_hold, shuns=spelled.shuns, problem=problem)
    required = affinity.required_during_scheduling_ignored_during_execution
    terms = required.reservation_selector_terms or () if required is not None else None
    return _checked(
        Wish(
            needs_hold=needs_hold,
            name=affinity.name or "",
            selector=tuple(sorted((affinity.reservation_selector or {}).items())),
            terms=None if terms is None else tuple(map(node_term, terms)),
            tolerations=tuple(map(toleration_of, affinity.tolerations or ())),
            exact=tuple(exact.resource_names or ()),
            shuns=spelled.shuns,
        )
    )


def _checked(wish: Wish) -> Wish:
    refusal = _refusal(wish.terms or (), wish.tolerations)
    if refusal is None:
        return wish
    problem = f"annotation {AFFINITY}: {refusal}"
    return Wish(needs_hold=True, shuns=wish.shuns, problem=problem)


def _refusal(terms: tuple[NodeTerm, ...], tolerations: tuple[Toleration, ...]) -> str | None:
    refusals = (*map(node_term_refusal, terms), *map(toleration_refusal, tolerations))
    return next((refusal for refusal in refusals if refusal), None)


_wishes: Interned[_SpelledWish, Wish] = Interned(_read, limit=512)
