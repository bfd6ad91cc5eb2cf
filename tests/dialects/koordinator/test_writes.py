"""Actions about Reservations as requests, and what the dialect says of itself."""

from __future__ import annotations

import json

import pytest

from headroom.core.actions import Bind, DeleteObject, DeletePod, Disclaim, Nominate, WriteHoldStatus
from headroom.core.holds import HoldStatus
from headroom.core.objects import Key, Parent
from headroom.dialects.koordinator import KOORDINATOR
from headroom.dialects.korder import KORDER
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.writes import Write
from tests.dialects.koordinator.objects import PREFIX

POD = Key("default", "p")
OURS = Parent("scheduling.koordinator.sh/v1alpha1", "Reservation", "", "r", "uid-r")
NATIVE = Parent("headroom.dev/v1alpha1", "Hold", "default", "h", "uid-h")
ALLOCATED = f"{PREFIX}/reservation-allocated"
COLLECTION = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"


def rendered(action: Bind | Nominate | Disclaim | DeleteObject | WriteHoldStatus) -> Write:
    write = KOORDINATOR.render(action)
    assert write is not None
    return write


@pytest.mark.parametrize("action", [Bind(POD, "1", "a", OURS), Nominate(POD, "1", "a", OURS)])
def test_an_owner_says_which_reservation_it_got_in_the_same_write(action: Bind) -> None:
    body = rendered(action).body
    assert isinstance(body, dict)
    annotations = body["metadata"]["annotations"]
    assert json.loads(annotations[ALLOCATED]) == {"name": "r", "uid": "uid-r"}
    assert annotations["headroom.dev/claimed"] == "Reservation//r"


def test_a_claim_taken_back_is_taken_back_in_both_words() -> None:
    body = KindCodecs((KOORDINATOR, KORDER)).render(Disclaim(POD, "1")).body
    assert isinstance(body, dict)
    annotations = body["metadata"]["annotations"]
    assert annotations[ALLOCATED] is None
    assert annotations["korder.dev/ticket-claimed"] is None, "whichever dialect it was"
    assert annotations["headroom.dev/claimed"] is None


def test_a_status_is_put_in_place_whole_and_only_on_the_object_that_is_meant() -> None:
    write = rendered(WriteHoldStatus(OURS, HoldStatus(phase="Pending")))
    assert (write.method, write.path) == ("PATCH", f"{COLLECTION}/r/status")
    assert write.body == [
        {"op": "test", "path": "/metadata/uid", "value": "uid-r"},
        {"op": "add", "path": "/status", "value": {"phase": "Pending"}},
    ]
    assert write.guarded


def test_an_ended_reservation_is_deleted_by_name_and_uid() -> None:
    write = rendered(DeleteObject(OURS))
    assert (write.method, write.path) == ("DELETE", f"{COLLECTION}/r")
    assert isinstance(write.body, dict)
    assert write.body["preconditions"] == {"uid": "uid-r"}


def test_what_is_about_other_objects_is_left_to_others() -> None:
    assert KOORDINATOR.render(Bind(POD, "1", "a", NATIVE)) is None
    assert KOORDINATOR.render(Bind(POD, "1", "a")) is None
    assert KOORDINATOR.render(WriteHoldStatus(NATIVE, HoldStatus())) is None
    assert KOORDINATOR.render(DeleteObject(NATIVE)) is None
    assert KOORDINATOR.render(DeletePod(POD, "1")) is None


def test_the_dialect_answers_to_koordinators_scheduler_and_knows_its_rival() -> None:
    assert KOORDINATOR.schedulers == {"koord-scheduler"}
    assert [rival.lease for rival in KOORDINATOR.rivals] == ["koord-scheduler"]
    assert [kind.plural for kind in KOORDINATOR.kinds] == ["reservations"]


def test_the_definition_is_the_one_that_clients_know() -> None:
    (definition,) = KOORDINATOR.definitions()
    assert definition["metadata"]["name"] == "reservations.scheduling.koordinator.sh"
    spec = definition["spec"]
    assert (spec["scope"], spec["names"]["singular"]) == ("Cluster", "reservation")
    (version,) = spec["versions"]
    columns = [column["name"] for column in version["additionalPrinterColumns"]]
    assert columns == ["Phase", "Age", "Node", "TTL", "Expires"]
    fields = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert fields["required"] == ["owners", "template"]
    assert fields["properties"]["template"]["x-kubernetes-preserve-unknown-fields"] is True
    assert fields["properties"]["owners"]["items"]["minProperties"] == 1
    assert fields["properties"]["ttl"]["default"] == "24h"
    assert fields["properties"]["allocatePolicy"]["enum"] == ["Aligned", "Restricted"]
