"""A cluster where korder itself was at work: its tickets are taken over as they are."""

from __future__ import annotations

from typing import Any

from tests.stories.embedded import EmbeddedWorld
from tests.stories.korder.things import API, guardians, order, phases, ticket, until_phases
from tests.stories.things import Json, pod


def made_by_korder(name: str, uid: str, status: Json, **spec: Any) -> Json:
    """A Ticket as korder's own controller makes it."""
    owner: Json = {"apiVersion": API, "kind": "Order", "name": "web", "uid": uid}
    owner |= {"controller": True, "blockOwnerDeletion": True}
    labels = {"korder.dev/order": "web", "korder.dev/order-uid": uid}
    finalizers = ["korder.dev/ticket-finalizer"]
    metadata = {"labels": labels, "ownerReferences": [owner], "finalizers": finalizers}
    return {**ticket(name, metadata=metadata, duration="24h", **spec), "status": status}


def test_tickets_that_korder_made_are_kept_under_their_names(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.apply(order(replicas=2))
    uid = embedded.all("Order")[0]["metadata"]["uid"]
    status = {"phase": "Reserved", "nodeName": "", "activationTime": "2026-12-31T23:00:00Z"}
    embedded.apply(*(made_by_korder(f"web-{number}", uid, status) for number in range(2)))
    before = {each["metadata"]["uid"] for each in embedded.all("Ticket")}
    embedded.start_operator()
    until_phases(embedded, web_0="Ready", web_1="Ready")
    assert {each["metadata"]["uid"] for each in embedded.all("Ticket")} == before
    embedded.until(
        "they are of the present template",
        lambda: embedded.status("web", "Order").get("updatedReplicas") == 2,
    )
    annotations = embedded.all("Ticket")[0]["metadata"]["annotations"]
    assert annotations["headroom.dev/slot"] in ("0", "1")


def test_a_guardian_that_korder_left_gives_way_to_ours(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.apply(ticket())
    left = pod("korder-guardian-solo")
    left["metadata"]["labels"] = {"korder.dev/guardian": "true", "korder.dev/ticket": "solo"}
    uid = embedded.all("Ticket")[0]["metadata"]["uid"]
    owner: Json = {"apiVersion": API, "kind": "Ticket", "name": "solo", "uid": uid}
    left["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    embedded.apply(left)
    embedded.until_runs("korder-guardian-solo")
    embedded.start_operator()
    embedded.pass_time(30)
    assert phases(embedded) == {"solo": "Ready"}, embedded.picture()
    assert list(guardians(embedded).values()) == ["a"]
