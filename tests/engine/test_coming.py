"""Pods that workloads announce: only those that may concern a headroom are looked at for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.holds import ObjectMatch, OwnerRule
from headroom.core.objects import Pod
from headroom.core.owners import has_right
from headroom.core.policy import Policy
from headroom.core.sizes.adaptive import Adaptive
from headroom.engine.engine import Engine
from headroom.engine.headrooms import expected_pods
from headroom.engine.headrooms.expected_pods import known_demand, see_workload
from headroom.engine.headrooms.records import file_headroom
from headroom.engine.ledger import Ledger
from tests.core.headroom_builder import headroom, web

CROWD = 50


def learning(policy: Policy | None = None, *rules: OwnerRule) -> tuple[Ledger, Headroom]:
    ledger = Engine(policy or Policy()).ledger
    own = headroom(Adaptive(timedelta(seconds=2), 0.99))
    own = replace(own, owners=(*own.owners, *rules))
    ledger.slots.headrooms[own.parent.whole] = own
    file_headroom(ledger, own)
    return ledger, own


def growing(namespace: str, name: str = "web") -> Workload:
    made = web(5, missing=3, uid=f"u-{namespace}-{name}", pod_labels={"app": "web"})
    return replace(made, namespace=namespace, ref=replace(made.ref, name=name))


def test_what_a_workload_wants_is_known_until_it_has_it_or_goes() -> None:
    ledger, own = learning()
    assert see_workload(ledger, growing("default")) == (own.parent.whole,)
    assert known_demand(ledger, own) == 3
    assert see_workload(ledger, replace(growing("default"), missing=1)) == (own.parent.whole,)
    assert known_demand(ledger, own) == 1
    assert see_workload(ledger, replace(growing("default"), missing=1), gone=True) == (
        own.parent.whole,
    )
    assert known_demand(ledger, own) == 0


def test_workloads_of_other_namespaces_cost_a_headroom_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    ledger, own = learning()

    def noted(headroom: Headroom, pod: Pod, across: bool) -> bool:
        asked.append(pod.key.namespace)
        return has_right(headroom, pod, across)

    monkeypatch.setattr(expected_pods, "has_right", noted)
    see_workload(ledger, growing("default"))
    asked.clear()
    for number in range(CROWD):
        assert see_workload(ledger, growing("mallory", f"w-{number}")) == ()
    assert known_demand(ledger, own) == 3
    assert asked == ["default"]


@pytest.mark.parametrize("named", ["elsewhere", "*"])
def test_where_owners_of_other_namespaces_are_named_these_count(named: str) -> None:
    there = OwnerRule(object=ObjectMatch(namespace=named))
    ledger, own = learning(Policy(across_namespaces=True), there)
    for namespace in ("default", "elsewhere"):
        see_workload(ledger, growing(namespace))
    assert known_demand(ledger, own) == 6
