"""Expectations: which objects are meant, how paths are read, what a failure says."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.sim.scenarios.expectations import read_path, unmet
from headroom.sim.scenarios.model import Expect
from tests.sim.things import pod

OBJ: dict[str, Any] = {
    "metadata": {"labels": {"app.kubernetes.io/name": "web", "app": "x"}},
    "status": {
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "main", "restartCount": 0}],
    },
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.labels.app", "x"),
        ("metadata.labels.app.kubernetes.io/name", "web"),
        ("status.conditions[0].type", "Ready"),
        ("status.conditions[Ready].status", "True"),
        ("status.containerStatuses[main].restartCount", 0),
        ("status.conditions[7].type", None),
        ("status.nothing.here", None),
        ("status.conditions.type", None),
    ],
)
def test_a_path_reads_fields_items_and_dotted_names(path: str, value: object) -> None:
    assert read_path(OBJ, path) == value


def test_numbers_and_words_that_look_alike_are_alike() -> None:
    given = pod("p", replicas=3)
    assert unmet(Expect("Pod", where={"spec.replicas": "3"}), [given]) == ""


def test_null_means_absent() -> None:
    expect = Expect("Pod", where={"spec.nodeName": None})
    assert unmet(expect, [pod("p")]) == ""
    assert unmet(expect, [pod("p", nodeName="a")]) != ""


def test_a_missed_count_names_a_few_of_the_others() -> None:
    given = [pod(f"p{number}") for number in range(9)]
    words = unmet(Expect("Pod", where={"spec.nodeName": "a"}, count=9), given)
    assert words.startswith("expected 9 Pod where spec.nodeName=a, found 0; there were p0 (")
    assert words.endswith("and 4 more")


def test_namespace_name_and_selector_narrow() -> None:
    given = [pod("a", labels={"x": "1"}), pod("b", labels={"x": "2"})]
    assert unmet(Expect("Pod", name="a", count=1), given) == ""
    assert unmet(Expect("Pod", namespace="other", count=0), given) == ""
    assert unmet(Expect("Pod", selector="x notin (1)", count=1), given) == ""
    assert unmet(Expect("Pod", selector="x", count=2), given) == ""
    assert unmet(Expect("Pod", selector="!x", count=0), given) == ""
    assert unmet(Expect("Pod", selector="x!=1", count=1), given) == ""
