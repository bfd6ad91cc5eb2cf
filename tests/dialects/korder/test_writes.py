"""Actions about Orders and Tickets as requests, and korder's annotations on pods that claim."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headroom.core.actions import (
    Bind,
    CreateSlotObject,
    DeleteObject,
    DeletePod,
    Disclaim,
    Nominate,
    SetFinalizers,
    WriteHeadroomStatus,
    WriteHoldStatus,
)
from headroom.core.derived_names import object_of
from headroom.core.headrooms.headrooms import HeadroomStatus
from headroom.core.headrooms.slot_values import SlotObjects
from headroom.core.holds import Hold, HoldStatus
from headroom.core.names import API_VERSION as NATIVE
from headroom.core.objects import Key, Parent
from headroom.dialects.korder import KORDER
from headroom.dialects.korder.kinds import API_VERSION
from headroom.dialects.korder.writes import render
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.writes import Write
from tests.dialects.korder.things import of_order, order, read_order, read_ticket, refusals, ticket

ORDER = Parent(API_VERSION, "Order", "shop", "web", "uid-web")
TICKET = Parent(API_VERSION, "Ticket", "shop", "web-0", "uid-web-0")
TEMPLATE = {
    "metadata": {
        "labels": {"app": "web", "korder.dev/order-uid": ""},
        "annotations": {"korder.dev/ticket-group": "g"},
    },
    "spec": {"duration": "1h", "priorityClassName": "high", "nodeSelector": {"a": "b"}},
}


def objects_of(template: dict[str, Any]) -> SlotObjects:
    objects = read_order(order(template=template)).slot_objects
    assert objects is not None
    return objects


OBJECTS = objects_of(TEMPLATE)


def wanted(slot: str, node: str = "") -> CreateSlotObject:
    hold = read_ticket(ticket())
    template = replace(hold.template, node=node)
    parent = object_of(OBJECTS, ORDER, slot)
    return CreateSlotObject(replace(hold, parent=parent, template=template), ORDER, slot, OBJECTS)


def rendered(action: Any) -> Write:
    write = render(action)
    assert write is not None
    return write


def body(action: Any) -> dict[str, Any]:
    made = rendered(action).body
    assert isinstance(made, dict)
    return made


def changes(action: Any) -> dict[str, Any]:
    """The values of a JSON patch by their paths."""
    patch = rendered(action).body
    assert isinstance(patch, list)
    return {each["path"]: each.get("value") for each in patch}


def test_a_ticket_is_made_with_all_that_korder_puts_on_it() -> None:
    write, made = rendered(wanted("2")), body(wanted("2"))
    assert (write.method, write.path) == (
        "POST",
        "/apis/core.korder.dev/v1alpha1/namespaces/shop/tickets",
    )
    metadata = made["metadata"]
    assert metadata["name"] == "web-2"
    assert metadata["labels"] == {
        "app": "web",
        "korder.dev/order": "web",
        "korder.dev/order-uid": "uid-web",
    }
    assert metadata["finalizers"] == ["korder.dev/ticket-finalizer"]
    assert metadata["ownerReferences"] == [of_order()]
    assert made["spec"] == TEMPLATE["spec"]
    assert refusals(made) == []


def test_the_templates_annotations_reach_the_ticket() -> None:
    annotations = body(wanted("2"))["metadata"]["annotations"]
    assert annotations["korder.dev/ticket-group"] == "g"
    assert annotations["headroom.dev/slot"] == "2"
    assert annotations["headroom.dev/shape"] == OBJECTS.revision


def test_what_is_made_is_read_as_a_slot_of_its_order() -> None:
    made = body(wanted("node-a/1", "node-a"))
    made["metadata"]["uid"] = "new"
    member = read_ticket(made).member
    assert member is not None
    assert member.of == ORDER
    assert (member.slot, member.revision) == ("node-a/1", OBJECTS.revision)


def test_a_ticket_of_a_node_is_labelled_with_it_and_pinned_to_it() -> None:
    made = body(wanted("node-a", "node-a"))
    assert made["metadata"]["name"] == "web-node-a"
    assert made["metadata"]["labels"]["korder.dev/node"] == "node-a"
    assert made["spec"]["nodeName"] == "node-a"
    assert read_ticket(made).template.node == "node-a"


def test_a_long_node_name_is_hashed_in_the_label_only() -> None:
    node = "ip-10-0-0-1." + "x" * 60
    made = body(wanted(node, node))
    assert len(made["metadata"]["labels"]["korder.dev/node"]) <= 63
    assert len(made["metadata"]["name"]) <= 63
    assert made["spec"]["nodeName"] == node


def standing(**metadata: Any) -> Hold:
    thing = ticket(
        "web-0",
        {
            "labels": {"app": "old", "mine": "too"},
            "ownerReferences": [of_order()],
            "resourceVersion": "7",
            **metadata,
        },
    )
    return read_ticket(thing)


def test_a_changed_template_is_put_into_a_ticket_that_stands() -> None:
    hold = standing(annotations={"headroom.dev/slot": "0", "headroom.dev/shape": "old"})
    action = CreateSlotObject(hold, ORDER, "0", OBJECTS)
    write, patch = rendered(action), changes(action)
    assert (write.method, write.subresource, write.guarded) == ("PATCH", "", True)
    assert patch["/metadata/uid"] == "uid-web-0"
    assert patch["/metadata/resourceVersion"] == "7"
    assert patch["/spec"] == TEMPLATE["spec"]
    assert patch["/metadata/labels"]["app"] == "web"
    assert patch["/metadata/labels"]["mine"] == "too"
    assert patch["/metadata/annotations/headroom.dev~1shape"] == OBJECTS.revision


def test_a_ticket_that_korder_made_is_adopted_though_it_has_no_annotations() -> None:
    patch = changes(CreateSlotObject(standing(), ORDER, "0", OBJECTS))
    assert patch["/metadata/annotations"]["headroom.dev/slot"] == "0"


def test_statuses_are_put_in_place_as_a_whole() -> None:
    write = rendered(WriteHoldStatus(TICKET, HoldStatus("Available", "node-a")))
    assert write.path == "/apis/core.korder.dev/v1alpha1/namespaces/shop/tickets/web-0/status"
    assert write.guarded
    patch = changes(WriteHoldStatus(TICKET, HoldStatus("Available", "node-a")))
    assert patch["/status"]["phase"] == "Ready"
    patch = changes(WriteHeadroomStatus(ORDER, HeadroomStatus(held=3)))
    assert patch["/status"]["availableReplicas"] == 3


def test_a_ticket_is_deleted_only_if_it_is_the_one_that_is_meant() -> None:
    write = rendered(DeleteObject(TICKET))
    assert (write.method, write.path) == (
        "DELETE",
        "/apis/core.korder.dev/v1alpha1/namespaces/shop/tickets/web-0",
    )
    assert body(DeleteObject(TICKET))["preconditions"] == {"uid": "uid-web-0"}


def test_finalizers_are_written_only_over_what_was_read() -> None:
    patch = changes(SetFinalizers(ORDER, "7", ("a/b", "korder.dev/order-finalizer")))
    assert patch["/metadata/resourceVersion"] == "7"
    assert patch["/metadata/finalizers"] == ["a/b", "korder.dev/order-finalizer"]


def test_a_pod_that_gets_a_ticket_is_told_in_korders_words_as_well() -> None:
    pod = Key("shop", "web-7f9c-x")
    for action in (Nominate(pod, "u", "node-a", TICKET), Bind(pod, "u", "node-a", TICKET)):
        annotations = body(action)["metadata"]["annotations"]
        assert annotations["korder.dev/ticket-claimed"] == "web-0"
        assert annotations["korder.dev/ticket-node"] == "node-a"
        assert annotations["headroom.dev/claimed"] == "Ticket/shop/web-0"


def test_a_claim_that_is_taken_back_leaves_no_word_of_korders_behind() -> None:
    made = (
        KindCodecs((KORDER,)).render(Disclaim(Key("shop", "web-7f9c-x"), "u", nominated=True)).body
    )
    assert isinstance(made, dict)
    annotations = made["metadata"]["annotations"]
    assert annotations["korder.dev/ticket-claimed"] is None
    assert annotations["korder.dev/ticket-node"] is None
    assert annotations["headroom.dev/claimed"] is None
    assert made["status"] == {"nominatedNodeName": None}


def test_other_actions_are_left_to_others() -> None:
    native = Parent(NATIVE, "Hold", "shop", "h", "u")
    pod = Key("shop", "p")
    assert render(WriteHoldStatus(native, HoldStatus())) is None
    assert render(Bind(pod, "u", "node-a", native)) is None
    assert render(Nominate(pod, "u", "node-a")) is None
    assert render(DeletePod(pod, "u")) is None
    assert render(DeleteObject(native)) is None
