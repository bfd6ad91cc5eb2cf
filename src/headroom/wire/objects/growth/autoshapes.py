"""`spec.slot.auto` of a Headroom from its JSON."""

from __future__ import annotations

from headroom.core.headrooms.headrooms import (
    AUTO_KINDS,
    MOST_SHAPES,
    USUAL_KINDS,
    USUAL_TOP,
    Auto,
)
from headroom.core.objects import LabelSelector
from headroom.core.selector_validation import selector_refusal
from headroom.wire.objects.findings import Fields
from headroom.wire.objects.reader import Reader
from headroom.wire.objects.selectors import Selector, optional_selector

_read_selector = Reader(Selector)
_read_kinds = Reader(list[str])


def auto_of(auto: Fields) -> Auto | None:
    """Read `spec.slot.auto`, taking down what is wrong."""
    if not auto.given:
        return None
    scope = auto.part("scope")
    top = auto.number("top", 1, MOST_SHAPES)
    return Auto(
        top=USUAL_TOP if top is None else top,
        kinds=_kinds(scope),
        namespaces=_selector(scope, "namespaceSelector"),
        selector=_selector(scope, "labelSelector"),
    )


def _kinds(scope: Fields) -> tuple[str, ...]:
    named = scope.read(_read_kinds, "kinds")
    if named is None:
        return USUAL_KINDS
    if not named:
        scope.add("kinds", f"is empty; name some of {', '.join(AUTO_KINDS)}, or leave it out")
    for index, kind in enumerate(named):
        if kind not in AUTO_KINDS:
            scope.add(f"kinds[{index}]", f"{kind!r} is not one of {', '.join(AUTO_KINDS)}")
    return tuple(dict.fromkeys(named))


def _selector(scope: Fields, name: str) -> LabelSelector | None:
    selector = optional_selector(scope.read(_read_selector, name))
    refusal = selector_refusal(selector) if selector and selector.requirements else None
    if refusal is not None:
        scope.add(name, refusal)
    return selector
