"""Which holds are kept apart from which: only where both sides exist."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.hold_state.allocate_policy_groups import apart_from_others, with_policy_group
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.policy import Policy
from headroom.engine.agenda import Agenda
from headroom.engine.ledger import Ledger
from tests.builders import hold


def ledger() -> Ledger:
    return Ledger(Policy(), Agenda())


def sided(name: str, policy: str = "") -> Hold:
    return with_policy_group(hold(name, allocate_policy=policy))


def is_apart(known: Ledger, seen: Hold) -> bool:
    apart = apart_from_others(seen, known.hold_index.all(By.POLICY_GROUP))
    known.see_hold(apart)
    return apart.template.apart is not None


def test_a_hold_of_ours_is_on_no_side() -> None:
    known = ledger()
    known.see_hold(sided("n"))
    assert not is_apart(known, hold("h", allocate_policy="Restricted"))
    assert not is_apart(known, sided("n"))


def test_only_where_both_sides_exist_are_guardians_kept_apart() -> None:
    known = ledger()
    assert not is_apart(known, sided("a", "Aligned"))
    assert not is_apart(known, sided("r", "Restricted"))
    assert is_apart(known, sided("n"))
    assert is_apart(known, sided("a", "Aligned"))
    known.lose_hold(str(sided("n").parent))
    assert not is_apart(known, sided("a", "Aligned"))


def test_one_that_has_ended_keeps_nobody_away() -> None:
    known, ended = ledger(), sided("n")
    known.see_hold(ended)
    known.see_hold(replace(ended, status=replace(ended.status, phase="Failed")))
    assert not is_apart(known, sided("a", "Aligned"))


def test_one_that_changes_sides_is_not_apart_from_itself() -> None:
    known = ledger()
    known.see_hold(sided("n"))
    assert not is_apart(known, sided("n", "Aligned"))


def test_one_made_anew_under_its_name_is_another() -> None:
    known, old = ledger(), sided("n")
    known.see_hold(old)
    known.see_hold(replace(old, parent=replace(old.parent, uid="another")))
    assert is_apart(known, sided("a", "Aligned"))
