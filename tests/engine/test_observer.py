"""Every kind of object and of event is taken in, those of dialects as the kind that they are."""

from __future__ import annotations

from typing import get_args

import pytest

from headroom.core.quotas.quota import Quota
from headroom.dialects.korder.rules.quota import KorderQuota
from headroom.engine.observation.observer import OBSERVED, taken_in_by
from headroom.ports import Event, Seen, Synced, Thing

KINDS: set[type] = {*get_args(Thing), *get_args(Event)} - {Seen, Synced}


@pytest.mark.parametrize("kind", sorted(KINDS, key=str))
def test_the_table_has_a_function_for_each_kind(kind: type) -> None:
    assert taken_in_by(kind) is OBSERVED[kind]


def test_the_table_has_nothing_that_cannot_happen() -> None:
    assert set(OBSERVED) == KINDS


def test_a_quota_of_a_dialect_is_taken_in_as_a_quota() -> None:
    assert KorderQuota not in OBSERVED
    assert taken_in_by(KorderQuota) is OBSERVED[Quota]
