"""Which holds a pod requests, from Koordinator's annotations and label.

The annotations contain JSON that people write. An error in one becomes part of the request
(`problem`), so that the pod itself can still be decoded. Equal texts are decoded once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from headroom.core.objects import NO_LABELS, NO_WISH, NodeTerm, Toleration, Wish
from headroom.core.selector_validation import node_term_refusal, toleration_refusal
from headroom.dialects.koordinator.names import AFFINITY, EXACT, IGNORED
from headroom.wire.errors import DecodeError
from headroom.wire.objects.codec import TEXT, TEXT_PAIRS, TEXTS, Codec
from headroom.wire.objects.intern import Interned
from headroom.wire.objects.placement import TOLERATION
from headroom.wire.objects.selectors import node_terms

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_AFFINITY = Codec[Any](
    dict,
    name=TEXT,
    terms=node_terms("reservationSelectorTerms").named(_REQUIRED),
    selector=TEXT_PAIRS.named("reservationSelector"),
    tolerations=TOLERATION.parts(),
)
_EXACT = Codec[Any](dict, exact=TEXTS.named("resourceNames"))


class _SpelledWish(NamedTuple):
    affinity: str | None
    exact: str | None
    avoids_holds: bool


def wish_of(labels: Mapping[str, str], annotations: Mapping[str, str]) -> Wish:
    """The request in a pod's labels and annotations; most pods have none."""
    avoids_holds = labels.get(IGNORED) == "true"
    if annotations is NO_LABELS and not avoids_holds:
        return NO_WISH
    affinity, exact = annotations.get(AFFINITY), annotations.get(EXACT)
    if affinity is None and exact is None and not avoids_holds:
        return NO_WISH
    return _wishes(_SpelledWish(affinity, exact, avoids_holds))


def _read(spelled: _SpelledWish) -> Wish:
    needs_hold = spelled.affinity is not None
    try:
        affinity = _AFFINITY.decode(_text(spelled.affinity), AFFINITY)
        exact = _EXACT.decode(_text(spelled.exact), EXACT)
    except DecodeError as error:
        problem = f"annotation {error.path}: {error.problem}"
        return Wish(needs_hold=needs_hold, avoids_holds=spelled.avoids_holds, problem=problem)
    return _checked(
        Wish(needs_hold=needs_hold, avoids_holds=spelled.avoids_holds, **affinity, **exact)
    )


def _text(annotation: str | None) -> bytes:
    return (annotation or "").encode(errors="replace")


def _checked(wish: Wish) -> Wish:
    refusal = _refusal(wish.terms or (), wish.tolerations)
    if refusal is None:
        return wish
    problem = f"annotation {AFFINITY}: {refusal}"
    return Wish(needs_hold=True, avoids_holds=wish.avoids_holds, problem=problem)


def _refusal(terms: tuple[NodeTerm, ...], tolerations: tuple[Toleration, ...]) -> str | None:
    refusals = (*map(node_term_refusal, terms), *map(toleration_refusal, tolerations))
    return next((refusal for refusal in refusals if refusal), None)


_wishes: Interned[_SpelledWish, Wish] = Interned(_read, limit=512)
