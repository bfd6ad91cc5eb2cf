"""CapacityBuffers: how many chunks, and what the status says."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headroom.core.conditions import Words, conditions_of
from headroom.core.headrooms.size_limits import Note
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.resources import Resources
from headroom.dialects.capacitybuffer.rules.size import (
    ACTIVE,
    BufferSize,
    buffer_words,
    chunks,
    is_ours,
)
from tests.builders import NOON, resources

CORE = resources(cpu=1)
TWENTY = (("cpu", 20_000),)


@pytest.mark.parametrize(
    ("size", "workload", "count"),
    [
        (BufferSize(replicas=5), 10, 5),
        (BufferSize(percentage=200), 10, 20),
        (BufferSize(percentage=33), 10, 4),
        (BufferSize(replicas=25, percentage=200), 10, 25),
        (BufferSize(replicas=15, percentage=200), 10, 20),
        (BufferSize(replicas=25, limits=TWENTY), 10, 20),
        (BufferSize(replicas=15, limits=TWENTY), 10, 15),
        (BufferSize(percentage=250, limits=TWENTY), 10, 20),
        (BufferSize(limits=TWENTY), 10, 20),
        (BufferSize(percentage=50), 0, 0),
        (BufferSize(percentage=0), 10, 0),
        (BufferSize(percentage=1), 1, 1),
        (BufferSize(replicas=5, percentage=200), None, 5),
        (BufferSize(percentage=200, limits=TWENTY), None, 20),
        (BufferSize(replicas=0), None, 0),
        (BufferSize(replicas=-1), None, 0),
        (BufferSize(replicas=3, limits=(("cpu", 900),)), None, 0),
        (BufferSize(replicas=3, limits=(("cpu", 0),)), None, 0),
        (BufferSize(replicas=3, limits=(("cpu", 2_000), ("nvidia.com/gpu", 1))), None, 2),
    ],
)
def test_the_larger_wish_counts_and_the_limits_cap_it(
    size: BufferSize, workload: int | None, count: int
) -> None:
    found = chunks(size, CORE, workload)
    assert found == count


def test_the_scarcest_limit_decides() -> None:
    chunk = resources(cpu="100m", memory="200Mi")
    limits = (("cpu", 2_000), ("memory", 2_000 * 2**20))
    assert chunks(BufferSize(limits=limits), chunk, None) == 10


def test_the_limits_cut_a_number() -> None:
    assert chunks(BufferSize(replicas=25, limits=TWENTY), CORE, None) == 20
    assert chunks(BufferSize(replicas=15, limits=TWENTY), CORE, None) == 15


@pytest.mark.parametrize(
    ("size", "chunk", "word"),
    [
        (BufferSize(), CORE, "neither replicas"),
        (BufferSize(percentage=20), CORE, "scalableRef"),
        (BufferSize(replicas=3, limits=(("nvidia.com/gpu", 4),)), CORE, "nvidia.com/gpu"),
        (BufferSize(replicas=3, limits=()), CORE, "names nothing"),
        (BufferSize(limits=TWENTY), Resources(), "requests nothing"),
    ],
)
def test_a_size_that_says_nothing_is_refused_with_its_reason(
    size: BufferSize, chunk: Resources, word: str
) -> None:
    found = chunks(size, chunk, None)
    assert isinstance(found, Note)
    assert found.reason == "ResolutionFailed"
    assert word in found.message


def test_only_active_capacity_is_ours() -> None:
    assert is_ours("")
    assert is_ours(ACTIVE)
    assert not is_ours("buffer.gke.io/standby-capacity")


def words(wanted: int = 0, allowed: int = 0, held: int = 0, *quotas: str) -> tuple[Words, ...]:
    notes = tuple(Note("LimitedByQuotas", name) for name in quotas)
    return buffer_words(WantedSlots(asked=wanted, later=allowed, notes=notes), held, None)


def told(found: tuple[Words, ...]) -> dict[str, tuple[str, str]]:
    return {kind: (status, reason) for kind, status, reason, _ in found}


def test_all_chunks_on_ready_nodes_are_provisioned() -> None:
    assert told(words(wanted=2, allowed=2, held=2)) == {
        "ReadyForProvisioning": ("True", "Resolved"),
        "LimitedByQuotas": ("False", "ResourceQuotasAllocated"),
        "Provisioning": ("True", "FitsExistingCapacity"),
    }


def test_chunks_that_wait_require_new_capacity() -> None:
    found = words(wanted=5, allowed=5, held=2)
    assert told(found)["Provisioning"] == ("False", "RequiresNewCapacity")
    assert "3 of 5" in found[2][3]


def test_what_a_quota_takes_is_told_with_its_name() -> None:
    _, status, reason, message = words(4, 3, 3, "team", "gpu")[1]
    assert (status, reason) == ("True", "ResourceQuotasAllocated")
    assert all(word in message for word in ("4", "3", "team, gpu"))


def test_an_empty_buffer_provisions_nothing() -> None:
    assert told(words())["Provisioning"] == ("False", "BufferEmpty")


def test_a_buffer_that_is_not_ready_is_not_provisioning_either() -> None:
    trouble = Note("PodTemplateNotFound", "no PodTemplate web")
    assert told(buffer_words(WantedSlots(asked=2, later=2), 2, trouble)) == {
        "ReadyForProvisioning": ("False", "PodTemplateNotFound"),
        "LimitedByQuotas": ("False", "ResourceQuotasAllocated"),
        "Provisioning": ("False", "NotReadyForProvisioning"),
    }


def test_a_condition_keeps_its_time_while_its_status_stays() -> None:
    first = conditions_of(words(2, 2, 1), (), 1, NOON)
    later = NOON + timedelta(minutes=5)
    second = conditions_of(words(2, 2, 2), first, 2, later)
    assert [each.since for each in second] == [NOON, NOON, later]
    assert [each.generation for each in second] == [2, 2, 2]
