"""Every kind of object and of event is taken in, those of dialects as the kind that they are."""

from __future__ import annotations

from typing import get_args

from headroom.core.quotas.quota import Quota
from headroom.dialects.korder.rules.quota import KorderQuota
from headroom.engine.observation.observer import LOST, SEEN, taken_in_by
from headroom.ports import Event, Lost, Seen, Synced, Thing

THINGS: set[type] = set(get_args(Thing))


def test_every_kind_of_object_is_taken_in_when_it_is_seen_and_when_it_is_lost() -> None:
    assert set(LOST) == THINGS
    assert set(SEEN) == THINGS | set(get_args(Event)) - {Seen, Lost, Synced}


def test_a_quota_of_a_dialect_is_taken_in_as_a_quota() -> None:
    for table in (SEEN, LOST):
        assert KorderQuota not in table
        assert taken_in_by(KorderQuota, table) is table[Quota]
