"""What is remembered of what was read is bounded by size, not only by number."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from headroom.core.actions import Tell
from headroom.core.allocation import beside_of
from headroom.core.derived_names import shape_of
from headroom.core.holds import Hold
from headroom.core.latches import claims_on
from headroom.core.names import CLAIMS_ANNOTATION
from headroom.core.objects import Key, Pod
from headroom.core.selection import integer
from headroom.dialects.korder.rules.requests import TICKET_REQUEST, request_of
from headroom.engine.cron import calendar
from headroom.wire.events import EventRecorder
from headroom.wire.kind_codecs import NATIVE
from headroom.wire.kinds import HOLDS, NODES, PODS
from headroom.wire.objects.intern import LONGEST, Interned
from tests.builders import NOON

LONG = 100_000
TIMES = 100
MOST = LONG * TIMES // 10  # a tenth of what was read
RECORDER = EventRecorder()
FULL = 4096  # Spellings, more than any table takes; after twice as many each is as full as then.


def long(number: int) -> str:
    return f"{number:06}" + "x" * LONG


def pod(**parts: Any) -> dict[str, Any]:
    metadata = {"name": "p", "namespace": "shop", "uid": "u", **parts.pop("metadata", {})}
    return {"metadata": metadata, "spec": {"containers": [{"name": "main"}], **parts}}


def read_pod(**parts: Any) -> None:
    NATIVE.decode(PODS, json.dumps(pod(**parts)).encode())


def affinity(number: int) -> dict[str, Any]:
    labels = {"matchLabels": {"app": long(number)}}
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": labels}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def read_hold(number: int) -> None:
    template = {"spec": pod()["spec"], "metadata": {"annotations": {"a": long(number)}}}
    metadata = {"name": "h", "namespace": "shop", "uid": "u"}
    text = json.dumps({"metadata": metadata, "spec": {"template": template}}).encode()
    read = NATIVE.decode(HOLDS, text)
    assert isinstance(read, Hold)
    shape_of(read)


def latch(number: int) -> Pod:
    return Pod(Key("ours", "latch"), annotations={CLAIMS_ANNOTATION: long(number)})


def read_node(number: int) -> None:
    taints = [{"key": "k", "value": long(number), "effect": "NoSchedule"}]
    node = {"metadata": {"name": "n", "uid": "u"}, "spec": {"taints": taints}}
    NATIVE.decode(NODES, json.dumps(node).encode())


def tell(number: int) -> None:
    RECORDER.write(Tell("v1", "Pod", Key("shop", "p"), "u", "Normal", "Held", long(number), NOON))


READINGS: dict[str, Callable[[int], object]] = {
    "labels": lambda n: read_pod(metadata={"labels": {"app": long(n)}}),
    "annotations": lambda n: read_pod(metadata={"annotations": {"headroom.dev/claimed": long(n)}}),
    "affinity": lambda n: read_pod(affinity=affinity(n)),
    "node selector": lambda n: read_pod(nodeSelector={"pool": long(n)}),
    "template": read_hold,
    "taints": read_node,
    "claimed beside": lambda n: beside_of(f"cpu={long(n)}"),
    "claims of a latch": lambda n: claims_on(latch(n)),
    "integer": lambda n: integer(long(n)),
    "event": tell,
    "asking": lambda n: request_of({TICKET_REQUEST: long(n)}),
    "cron": lambda n: calendar(long(n), "UTC"),
    "time zone": lambda n: calendar("0 8 * * *", long(n)),
}


@pytest.mark.parametrize("what", READINGS)
def test_long_texts_are_not_remembered(what: str) -> None:
    READINGS[what](0)
    gc.freeze()  # What other tests made need not be looked through for garbage.
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(1, TIMES + 1):
            READINGS[what](number)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < MOST


def test_spellings_are_remembered_up_to_the_bound() -> None:
    made: list[object] = []

    def make(spelling: object) -> object:
        made.append(spelling)
        return spelling

    table: Interned[Any, object] = Interned(make)
    for spelling in (b"x" * LONGEST, (b"x" * (LONGEST - 1), ("y",))):
        assert table(spelling) == table(spelling)
    assert (len(made), len(table)) == (2, 2)
    for spelling in (b"x" * (LONGEST + 1), (b"x" * LONGEST, ("y",))):
        assert table(spelling) == table(spelling)
    assert (len(made), len(table)) == (6, 2)


@pytest.mark.slow
def test_reading_ever_new_pods_costs_memory_only_until_the_tables_are_full() -> None:
    def read(first: int, last: int) -> int:
        for number in range(first, last):
            read_pod(
                metadata={
                    "labels": {"app": f"app-{number}"},
                    "annotations": {"headroom.dev/claimed": f"Hold/shop/{number}"},
                },
                nodeSelector={"pool": f"pool-{number}"},
            )
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    gc.freeze()
    tracemalloc.start()
    try:
        full = read(0, FULL)
        grown = read(FULL, 2 * FULL) - full
    finally:
        tracemalloc.stop()
    assert grown < 64 * 1024
