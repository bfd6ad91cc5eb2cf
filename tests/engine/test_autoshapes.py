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
from headroom.engine.headrooms import autoshapes
from headroom.engine.headrooms.autoshapes import AutoShapes
from tests.builders import NOON

DAY = timedelta(days=1)


def watching() -> AutoShapes:
    """Shapes of a headroom that chooses them, so that pods are noted."""
    ledger = Engine(Policy()).ledger
    shapes = AutoShapes(ledger)
    parent = Parent(API_VERSION, "Headroom", "shop", "ready", uid="u")
    shapes.depend(None, Headroom(parent, Slot(auto=Auto()), NOTHING))
    return shapes


def make(shapes: AutoShapes, namespace: str, maker: str, at: datetime = NOON) -> None:
    owner = OwnerReference("apps/v1", "ReplicaSet", maker, maker, True)
    shapes.see(None, Pod(Key(namespace, f"{maker}-{at}"), owners=(owner,), created=at))


def remembered(shapes: AutoShapes, namespace: str) -> list[str]:
    return list(shapes._made.get(namespace, ()))


def test_a_namespace_with_many_controllers_pushes_out_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(autoshapes, "MOST_CONTROLLERS", 10)
    shapes = watching()
    make(shapes, "shop", "web")
    for number in range(30):
        make(shapes, "mallory", f"forged-{number}")
    assert remembered(shapes, "shop") == ["web"]
    assert remembered(shapes, "mallory") == [f"forged-{number}" for number in range(21, 30)]


def test_the_same_uid_in_another_namespace_is_another_controller() -> None:
    shapes = watching()
    make(shapes, "shop", "web")
    for second in range(1, 50):
        make(shapes, "mallory", "web", NOON + timedelta(seconds=second))
    assert list(shapes._times(("shop", "web"))) == [NOON]


def test_a_controller_that_made_nothing_for_a_day_is_forgotten() -> None:
    shapes = watching()
    for number in range(100):
        make(shapes, "shop", f"job-{number}", NOON + number * DAY / 10)
    assert remembered(shapes, "shop") == [f"job-{number}" for number in range(89, 100)]


def test_nothing_is_remembered_when_nobody_chooses() -> None:
    shapes = watching()
    make(shapes, "shop", "web")
    parent = Parent(API_VERSION, "Headroom", "shop", "ready", uid="u")
    shapes.depend(Headroom(parent, Slot(auto=Auto()), NOTHING), None)
    assert remembered(shapes, "shop") == []
