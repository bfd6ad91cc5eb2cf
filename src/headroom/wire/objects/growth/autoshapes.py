"""`spec.slot.auto` of a Headroom from its JSON."""

from __future__ import annotations

from msgspec import Raw

from headroom.core.headrooms.headrooms import (
    AUTO_KINDS,
    MOST_SHAPES,
    USUAL_KINDS,
    USUAL_TOP,
    Auto,
)
from headroom.core.objects import LabelSelector
from headroom.core.selector_validation import selector_refusal
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import ABSENT, Reader, spelling
from headroom.wire.objects.selectors import Selector, label_selector

_PATH = "spec.slot.auto"
_SCOPE = f"{_PATH}.scope"


class _Auto(JsonObject):
    scope: Raw = ABSENT
    top: Raw = ABSENT


class _AutoScope(JsonObject):
    namespace_selector: Raw = ABSENT
    label_selector: Raw = ABSENT
    kinds: Raw = ABSENT


_read_auto = Reader(_Auto)
_read_scope = Reader(_AutoScope)
_read_selector = Reader(Selector)
_read_kinds = Reader(list[str])


def auto_of(raw: Raw, findings: Findings) -> Auto | None:
    """Read `spec.slot.auto`, taking down what is wrong."""
    given = findings.read(_read_auto, raw, _PATH)
    if given is None:
        return None
    scope = findings.read(_read_scope, given.scope, _SCOPE) or _AutoScope()
    top = findings.number(given.top, f"{_PATH}.top", 1, MOST_SHAPES)
    return Auto(
        top=USUAL_TOP if top is None else top,
        kinds=_kinds(scope.kinds, findings),
        namespaces=_selector(scope.namespace_selector, "namespaceSelector", findings),
        selector=_selector(scope.label_selector, "labelSelector", findings),
    )


def _kinds(raw: Raw, findings: Findings) -> tuple[str, ...]:
    path = f"{_SCOPE}.kinds"
    named = findings.read(_read_kinds, raw, path)
    if named is None:
        return USUAL_KINDS
    if not named:
        findings.add(path, f"is empty; name some of {', '.join(AUTO_KINDS)}, or leave it out")
    for index, kind in enumerate(named):
        if kind not in AUTO_KINDS:
            findings.add(f"{path}[{index}]", f"{kind!r} is not one of {', '.join(AUTO_KINDS)}")
    return tuple(dict.fromkeys(named))


def _selector(raw: Raw, name: str, findings: Findings) -> LabelSelector | None:
    path = f"{_SCOPE}.{name}"
    given = findings.read(_read_selector, raw, path) if spelling(raw) else None
    if given is None:
        return None
    selector = label_selector(given)
    refusal = selector_refusal(selector) if selector.requirements else None
    if refusal is not None:
        findings.add(path, refusal)
    return selector
