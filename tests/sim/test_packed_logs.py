"""The journal and past events of a long run are kept compressed, and read as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from headroom.sim.api.values import Json, Ref
from headroom.sim.scenarios.loader import load_scenario
from headroom.sim.scenarios.packed_log import BLOCK, MOST_READ, PackedLog
from headroom.sim.scenarios.play import Play
from tests.sim.test_replay import written


def test_entries_are_read_in_order_and_as_they_were() -> None:
    log, entries = PackedLog(), [{"at": n / 7, "what": "é", "n": n} for n in range(3 * BLOCK + 7)]
    for entry in entries:
        log.append(entry)
    assert (len(log), list(log), list(reversed(log))) == (len(entries), entries, entries[::-1])
    assert (log[0], log[-1], log[BLOCK]) == (entries[0], entries[-1], entries[BLOCK])
    assert log[BLOCK - 2 : 2 * BLOCK : 3] == entries[BLOCK - 2 : 2 * BLOCK : 3]
    with pytest.raises(IndexError):
        log[len(entries)]
    log.clear()
    assert (len(log), list(log)) == (0, [])


def test_text_that_is_not_unicode_is_kept_too() -> None:
    log, entries = PackedLog(), [{"what": "\ud800"}] * BLOCK
    for entry in entries:
        log.append(entry)
    assert list(log) == entries


def test_only_some_blocks_are_decompressed_at_a_time() -> None:
    log = PackedLog(block=2)
    for number in range(10 * MOST_READ):
        log.append({"n": number})
    assert [entry["n"] for entry in log] == list(range(10 * MOST_READ))
    assert len(log._read) <= MOST_READ


def test_the_result_has_past_events_in_the_order_in_which_they_were_recorded(
    tmp_path: Path,
) -> None:
    """The second pod lives longest: its events stay in the store, all others leave it."""
    trace = "second,pods,duration\n" + "".join(
        f"{600 * n},1,{40_000 if n == 1 else 1800 - 100 * n}\n" for n in range(12)
    )
    scenario = load_scenario([written(tmp_path, trace, more="until: 10h")])
    play = Play(scenario, None)
    recorded: dict[Ref, Json] = {}
    play.world.store.listen("Event", lambda change: recorded.update({change.ref: change.obj}))
    result = play.finish()
    there = play.world.events()
    play.close()
    assert len(there) < len(result.events)
    names = [event["involvedObject"]["name"] for event in result.events if "jobs" in str(event)]
    assert names == sorted(names, key=lambda name: int(name.split("-")[-1]))
    assert len(set(names)) == 12
    assert [*result.events] == result.document()["events"]
    assert [*result.events] == [*recorded.values()]
