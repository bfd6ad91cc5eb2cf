"""When pods were made is remembered by namespace, for a day, and of so many controllers."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from headroom.core.headrooms.headrooms import Auto, Headroom, Slot
from headroom.core.names import API_VERSION
from headroom.core.objects import Key, OwnerReference, Parent, Pod
from headroom.core.policy import Policy
from headroom.core.sizes.replicas import NOTHING
from headroom.engine.engine import Engine
from headroom.engine.headrooms import auto_shapes
from headroom.engine.headrooms.auto_shapes import note_all_made, note_made, times
from headroom.engine.headrooms.records import file_headroom
from headroom.engine.ledger import Ledger
from tests.builders import NOON

DAY = timedelta(days=1)


CHOOSING = Headroom(
    Parent(API_VERSION, "Headroom", "shop", "ready", uid="u"), Slot(auto=Auto()), NOTHING
)


def watching() -> Ledger:
    """The ledger of a headroom that chooses its shapes, so that pods are noted."""
    ledger = Engine(Policy()).ledger
    file_headroom(ledger, CHOOSING)
    return ledger


def make(ledger: Ledger, namespace: str, maker: str, at: datetime = NOON) -> None:
    owner = OwnerReference("apps/v1", "ReplicaSet", maker, maker, True)
    note_made(ledger, None, Pod(Key(namespace, f"{maker}-{at}"), owners=(owner,), created=at))


def remembered(ledger: Ledger, namespace: str) -> list[str]:
    return list(ledger.slots.made.get(namespace, ()))


def test_a_namespace_with_many_controllers_pushes_out_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(auto_shapes, "MOST_CONTROLLERS", 10)
    ledger = watching()
    make(ledger, "shop", "web")
    for number in range(30):
        make(ledger, "mallory", f"forged-{number}")
    assert remembered(ledger, "shop") == ["web"]
    assert remembered(ledger, "mallory") == [f"forged-{number}" for number in range(21, 30)]


def test_the_same_uid_in_another_namespace_is_another_controller() -> None:
    ledger = watching()
    make(ledger, "shop", "web")
    for second in range(1, 50):
        make(ledger, "mallory", "web", NOON + timedelta(seconds=second))
    assert list(times(ledger.slots.made, ("shop", "web"))) == [NOON]


def test_a_controller_that_made_nothing_for_a_day_is_forgotten() -> None:
    ledger = watching()
    for number in range(100):
        make(ledger, "shop", f"job-{number}", NOON + number * DAY / 10)
    assert remembered(ledger, "shop") == [f"job-{number}" for number in range(89, 100)]


def test_nothing_is_remembered_when_nobody_chooses() -> None:
    ledger = watching()
    make(ledger, "shop", "web")
    ledger.slots.headroom_index.put(CHOOSING.parent.whole)
    note_all_made(ledger)
    assert remembered(ledger, "shop") == []
