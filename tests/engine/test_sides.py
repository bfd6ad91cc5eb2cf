"""Which holds are kept apart from which: only where both sides exist."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.hold_state.allocate_policy_groups import on_its_side
from headroom.core.holds import Hold
from headroom.engine.conflicts.allocate_policy_groups import Sides
from tests.builders import hold


def sided(name: str, policy: str = "") -> Hold:
    return on_its_side(hold(name, allocate_policy=policy))


def is_apart(seen: Hold) -> bool:
    return seen.template.apart is not None


def test_a_hold_of_ours_is_on_no_side() -> None:
    sides = Sides()
    sides.see(sided("n"))
    assert not is_apart(sides.see(hold("h", allocate_policy="Restricted")))
    assert not is_apart(sides.see(sided("n")))


def test_only_where_both_sides_exist_are_guardians_kept_apart() -> None:
    sides = Sides()
    assert not is_apart(sides.see(sided("a", "Aligned")))
    assert not is_apart(sides.see(sided("r", "Restricted")))
    assert is_apart(sides.see(sided("n")))
    assert is_apart(sides.see(sided("a", "Aligned")))
    sides.forget(sided("n"))
    assert not is_apart(sides.see(sided("a", "Aligned")))


def test_one_that_has_ended_keeps_nobody_away() -> None:
    sides, ended = Sides(), sided("n")
    sides.see(ended)
    sides.see(replace(ended, status=replace(ended.status, phase="Failed")))
    assert not is_apart(sides.see(sided("a", "Aligned")))


def test_one_made_anew_under_its_name_is_another() -> None:
    sides, old = Sides(), sided("n")
    sides.see(old)
    sides.see(replace(old, parent=replace(old.parent, uid="another")))
    sides.forget(old)
    assert is_apart(sides.see(sided("a", "Aligned")))
