"""The chain of writes for each owner is found among those of others, and its times are added up."""

from __future__ import annotations

from bench.audit import OPERATOR, Written
from bench.breakdown import in_words, steps_of


def write(verb: str, what: str, name: str, began: float, ended: float, code: int = 200) -> Written:
    """A write with its times in milliseconds."""
    return Written(OPERATOR, verb, what, code, "shop", name, began / 1000, ended / 1000)


def handover(owner: str, at: float) -> list[Written]:
    return [
        write("create", "pods", owner, at, at + 2),
        write("patch", "pods/status", "latch", at + 5, at + 8),
        write("delete", "pods", f"guardian-of-{owner}", at + 9, at + 13, code=409),
        write("delete", "pods", f"guardian-of-{owner}", at + 9, at + 13),
        write("create", "pods/binding", owner, at + 14, at + 15),
        write("patch", "holds/status", "hold", at + 16, at + 18),
    ]


def test_the_steps_of_a_handover_are_found() -> None:
    writes = [*handover("a", 0), *handover("b", 100), *handover("c", 200)]
    steps = steps_of("door 2 alone", ["a", "b", "c"], writes)
    assert in_words(steps) == (
        "+0.00 create pods 2.00, +3.00 patch pods/status 3.00, +1.00 delete pods 4.00, "
        "+1.00 create pods/binding 1.00"
    )


def test_an_owner_with_a_write_missing_does_not_count() -> None:
    writes = [w for w in handover("a", 0) if w.what != "pods/status"]
    assert steps_of("door 2", ["a", "gone"], writes) == []
    assert in_words(steps_of("free room", ["a", "gone"], writes)) == (
        "+0.00 create pods 2.00, +12.00 create pods/binding 1.00"
    )


def test_an_arm_without_a_chain_has_no_steps() -> None:
    assert steps_of("preemption", ["a"], handover("a", 0)) == []
