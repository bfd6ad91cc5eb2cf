"""Which refused pods are judged in one look at a node."""

from __future__ import annotations

from headroom.core.fences import rival_kind
from headroom.core.node.rivals import MOST_JUDGED, in_turn
from headroom.core.objects import Key, Pod
from tests.builders import pod


def kinds(*pods: Pod) -> dict[object, list[Key]]:
    found: dict[object, list[Key]] = {}
    for each in pods:
        found.setdefault(rival_kind(each), []).append(each.key)
    return found


def test_pods_of_one_namespace_do_not_keep_those_of_another_from_being_judged() -> None:
    many = [
        pod(f"many-{number}", cpu=1, namespace="crowd", labels={"n": str(number)})
        for number in range(10 * MOST_JUDGED)
    ]
    waiting, turn = kinds(*many, pod("one", cpu=1, namespace="alone")), 0
    seen: set[str] = set()
    for _ in range(25):
        judged = in_turn(waiting, turn)
        names = [key.name for alike in judged.alike for key in alike]
        assert judged.more
        assert len(judged.alike) <= MOST_JUDGED
        assert "one" in names
        seen.update(names)
        turn = judged.turn
    assert len(seen) == 10 * MOST_JUDGED + 1


def test_pods_that_are_alike_but_for_their_labels_are_judged_each_on_its_own() -> None:
    judged = in_turn(
        kinds(
            pod("a", cpu=1, labels={"x": "1"}),
            pod("b", cpu=1, labels={"x": "2"}),
            pod("c", cpu=1, labels={"x": "2"}, namespace="other"),
            pod("d", cpu=1, labels={"x": "2"}),
        ),
        0,
    )
    assert [[key.name for key in alike] for alike in judged.alike] == [["a"], ["d", "b"], ["c"]]
    assert not judged.more


def test_nobody_waits() -> None:
    judged = in_turn({}, 7)
    assert (judged.alike, judged.more, judged.turn) == ((), False, 0)
