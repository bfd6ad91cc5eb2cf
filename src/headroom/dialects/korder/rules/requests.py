"""Pods that ask for a ticket by annotation: by its name, labels, group or order.

A request is parsed once per spelling, and `Asks` says why a ticket does not match it. Requests also
have keys, as owner rules do, so that a pod finds the few tickets that could match
(`core.owners`).

    ticket-request: web-0 | name:web-0 | selector: app=web, tier=front | group:web
    order-request: web          the same as  required: "true" with  order: web
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from headroom.core.objects import Pod
from headroom.core.owners import asking_key

LONGEST_REMEMBERED = 1024  # Memory is not there for tenants to fill with long annotations.
TICKET_REQUEST = "korder.dev/ticket-request"
ORDER_REQUEST = "korder.dev/order-request"
ORDER = "korder.dev/order"
REQUIRED = "korder.dev/required"
ASKING = (TICKET_REQUEST, ORDER_REQUEST, ORDER)

_UNCLEAR = "?"


@dataclass(frozen=True, slots=True)
class Asks:
    """What a ticket answers to; its order's name also stands for a group."""

    annotations: ClassVar[tuple[str, ...]] = ASKING

    name: str
    order: str = ""
    group: str = ""
    labels: tuple[tuple[str, str], ...] = ()

    def refusal(self, annotations: Mapping[str, str]) -> str | None:
        """Say why a pod with these annotations does not ask for this ticket, or None."""
        request = request_of(annotations)
        if request is None:
            return f"the pod does not ask for it with the annotation {TICKET_REQUEST}"
        if isinstance(request, Malformed):
            return request.message
        if _is_meant(self, request):
            return None
        if request.kind == "selector":
            wanted = ", ".join(f"{key}={value}" for key, value in request.pairs)
            return f"the pod asks for one with the labels {wanted}"
        noun = "the one named" if request.kind == "name" else f"one of the {request.kind}"
        return f"the pod asks for {noun} {request.value}"

    def keys(self) -> tuple[str, ...]:
        """Keys of which every pod that asks for this ticket, or asks unclearly, carries one."""
        return tuple(_keys(self))


@dataclass(frozen=True, slots=True)
class Request:
    """What a pod asks for: a `kind` (name, selector, group or order) and its value or pairs."""

    kind: str
    value: str = ""
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Malformed:
    """A request that means nothing, and why."""

    message: str


def request_of(annotations: Mapping[str, str]) -> Request | Malformed | None:
    """What a pod asks for; None when it asks for nothing."""
    given = [key for key in ASKING if key in annotations]
    if ORDER in given and annotations.get(REQUIRED) != "true":
        given.remove(ORDER)
    if not given:
        return None
    if len(given) > 1:
        return Malformed(f"the pod asks twice, with {' and '.join(given)}; leave one of them")
    return _read(given[0], annotations[given[0]])


def _keys(asks: Asks) -> Iterator[str]:
    yield from (_key(annotation, _UNCLEAR) for annotation in ASKING)
    yield _key(TICKET_REQUEST, f"name:{asks.name}")
    for group in sorted({asks.group, asks.order} - {""}):
        yield _key(TICKET_REQUEST, f"group:{group}")
    for name, value in asks.labels:
        yield _key(TICKET_REQUEST, f"selector:{name}={value}")
    if asks.order:
        yield _key(ORDER_REQUEST, f"order:{asks.order}")
        yield _key(ORDER, f"order:{asks.order}")


def with_requests(pod: Pod) -> Pod:
    """The pod with the keys of the tickets that its annotations ask for."""
    keys = tuple(_asking_keys(pod.annotations))
    return replace(pod, requested=keys) if keys else pod


def _asking_keys(annotations: Mapping[str, str]) -> Iterator[str]:
    for annotation in ASKING:
        if annotation not in annotations:
            continue
        yield asking_key(annotation)
        request = _read(annotation, annotations[annotation])
        if isinstance(request, Malformed):
            yield _key(annotation, _UNCLEAR)
        elif request.kind == "selector":
            name, value = request.pairs[0]
            yield _key(annotation, f"selector:{name}={value}")
        else:
            yield _key(annotation, f"{request.kind}:{request.value}")


# A workload's pods ask alike, and each is asked about for every hold that it may mean.
def _read(annotation: str, text: str) -> Request | Malformed:
    short = len(text) <= LONGEST_REMEMBERED
    return _remembered(annotation, text) if short else _parsed(annotation, text)


def _parsed(annotation: str, text: str) -> Request | Malformed:
    form, value = "order", text.strip()
    if annotation == TICKET_REQUEST:
        form, colon, value = (part.strip() for part in text.partition(":"))
        if not colon:
            form, value = "name", form
        elif form not in ("name", "selector", "group"):
            return Malformed(
                f"annotation {annotation}: {text!r} begins with neither name:, selector: nor group:"
            )
    if not value:
        return Malformed(f"annotation {annotation}: {text!r} does not say what is asked for")
    return _selector(annotation, text, value) if form == "selector" else Request(form, value)


_remembered = lru_cache(maxsize=4096)(_parsed)


def _selector(annotation: str, text: str, value: str) -> Request | Malformed:
    pairs = []
    for part in value.split(","):
        name, equals, wanted = (each.strip() for each in part.partition("="))
        if not equals or not name or "=" in wanted:
            return Malformed(
                f"annotation {annotation}: {part.strip()!r} of {text!r} is not like key=value"
            )
        pairs.append((name, wanted))
    return Request("selector", pairs=tuple(sorted(pairs)))


def _is_meant(asks: Asks, request: Request) -> bool:
    match request.kind:
        case "name":
            return asks.name == request.value
        case "selector":
            return all(pair in asks.labels for pair in request.pairs)
        case "group":
            return request.value in (asks.group, asks.order)
    return asks.order == request.value


def _key(annotation: str, value: str) -> str:
    return f"{asking_key(annotation)}={value}"
