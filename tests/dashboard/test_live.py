"""Pictures of a live operator: kept up to date bit by bit, and never the operator's trouble."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from headroom.cli.pages.explanations import NOT_ASKED, explained_by_words
from headroom.cli.pages.live import MOST_ASKED, LiveFeed
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key
from headroom.core.policy import Policy
from headroom.dashboard.document import EVERYTHING, VisibleScope
from headroom.dashboard.page_state import filled
from headroom.dashboard.view import ClusterView
from headroom.engine.engine import Engine
from headroom.ports import Event, Lost, Seen, Synced
from headroom.wire.kind_codecs import NATIVE
from tests.builders import NOON, hold, node, pod


class Live:
    """An engine and the feed of its page, told the same."""

    def __init__(self) -> None:
        self.engine = Engine(Policy(namespace="headroom-system"))
        self.troubles: list[Exception] = []
        ledger = self.engine.ledger
        self.feed = LiveFeed(ledger, lambda: NOON, NATIVE, self.troubles.append)

    def tell(self, *events: Event) -> None:
        for event in events:
            self.feed.see(event)
            self.engine.observe(event, NOON)

    def picture(self) -> dict[str, Any]:
        return asyncio.run(self.feed.sections())

    def whole(self) -> dict[str, Any]:
        """The same from everything at once."""
        ledger = self.engine.ledger
        slots = ledger.slots.headrooms
        return filled(ClusterView(NOON, ledger.nodes, ledger.pods, ledger.holds, slots)).sections()


def test_a_picture_kept_up_to_date_is_the_picture_of_everything() -> None:
    live = Live()
    guardian = pod("g", cpu=1, node="a", phase="Running", labels={ROLE_LABEL: ROLE_GUARDIAN})
    live.tell(Seen(node("a")), Seen(node("b")), Seen(pod("web", cpu=1, node="a", phase="Running")))
    live.tell(Seen(guardian), Seen(hold("kept", cpu=1)), Seen(pod("late", cpu=1)), Synced())
    first = live.picture()
    assert {name: first[name] for name in live.whole()} == live.whole()
    assert first["nodes"]["a"]["held"]["cpu"] == 1000
    live.tell(Lost(guardian), Lost(node("b")))
    live.tell(Seen(pod("late", cpu=2, node="a", phase="Running")))
    second = live.picture()
    assert {name: second[name] for name in live.whole()} == live.whole()
    assert set(second["nodes"]) == {"a"}
    assert second["waiting"] == {}
    assert live.troubles == []


def test_what_goes_wrong_with_a_page_is_told_and_reaches_nobody() -> None:
    live = Live()
    no_labels: Any = None
    live.feed.see(Seen(replace(pod("odd"), labels=no_labels)))
    assert len(live.troubles) == 1


def test_a_node_opens_to_its_pods_and_one_that_is_not_there_to_none() -> None:
    live = Live()
    live.tell(Seen(node("a")), Seen(pod("web", cpu=1, node="a", phase="Running")), Synced())
    live.picture()
    rows = asyncio.run(live.feed.pods_on("a"))
    assert rows is not None
    assert [row["name"] for row in rows] == ["web"]
    assert asyncio.run(live.feed.pods_on("b")) is None


def test_any_pod_is_found_by_a_part_of_its_name_the_first_hundred_of_them() -> None:
    live = Live()
    live.tell(Seen(node("a")), Synced())
    for number in range(1200):
        live.tell(Seen(pod(f"web-{number:04}", cpu=0, node="a", phase="Running")))
    found = asyncio.run(live.feed.find_pods("WEB-", EVERYTHING))
    assert [row["name"] for row in found["pods"]] == [f"web-{number:04}" for number in range(100)]
    assert found["more"] == 1100
    one = asyncio.run(live.feed.find_pods("default/web-0777", EVERYTHING))
    assert [(row["name"], row["node"]) for row in one["pods"]] == [("web-0777", "a")]
    tenant = VisibleScope(nodes=False, pods=frozenset({"shop"}), objects=frozenset())
    assert asyncio.run(live.feed.find_pods("web", tenant)) == {"pods": [], "more": 0}


def test_on_a_large_cluster_nodes_are_not_asked_and_the_command_is_named() -> None:
    live = Live()
    late = pod("late", cpu=1, unschedulable_message="0/1 nodes are available")
    live.tell(Seen(node("a")), Seen(late), Synced())
    live.picture()
    small = asyncio.run(live.feed.explain("Pod/default/late", EVERYTHING))
    assert small is not None
    assert small["nodes"]
    crowd = {Key("default", f"p{number}"): late for number in range(MOST_ASKED)}
    live.engine.ledger.pods.update(crowd)
    large = asyncio.run(live.feed.explain("Pod/default/late", EVERYTHING))
    assert large is not None
    assert large["nodes"] == []
    assert NOT_ASKED in large["summary"]
    assert large["next"] == "headroom explain pod/late -n default  checks every node"


def test_an_explanation_shows_nobody_more_than_they_may_see() -> None:
    live = Live()
    live.tell(Seen(node("secret-node")), Seen(pod("late", cpu=1)), Synced())
    live.picture()
    tenant = VisibleScope(nodes=False, pods=frozenset({"default"}), objects=frozenset({"default"}))
    for told in (
        asyncio.run(live.feed.explain("Pod/default/late", tenant)),
        explained_by_words(live.feed._world(), "Pod/default/late", Policy(), tenant),
    ):
        assert told is not None
        assert "secret-node" not in str(told)
