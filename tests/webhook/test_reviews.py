"""Reviews and their answers: always yes, at most one gate more."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headroom.core.claim_gate import ClaimIndex
from headroom.sim.api.patches import json_patch
from headroom.webhook.reviews import NoReview, ReviewVerdict, asks_judge, claims_judge
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.times import format_time
from tests.wire.toydialect import ASKS, TOY

Json = dict[str, Any]
GATE = "headroom.dev/claim"
NOW = datetime(2027, 1, 4, tzinfo=UTC)
INDEXES = {
    "shop": ClaimIndex({"label:app=web", f"asks:{ASKS}"}, NOW + timedelta(seconds=1)),
    "stale": ClaimIndex({"label:app=web"}, NOW),
}
CLAIMS = claims_judge(INDEXES.get, NATIVE)
ASKING = asks_judge(INDEXES.get, KindCodecs((TOY,)))


def review(namespace: str = "shop", operation: str = "CREATE", **pod: Any) -> Json:
    metadata = {
        "generateName": "web-",
        "namespace": namespace,
        "labels": {"app": "web"},
        "managedFields": [{"manager": "kubectl", "time": format_time(NOW)}],
        **pod.pop("metadata", {}),
    }
    containers = [{"name": "main", "image": "web:1", "resources": {}}]
    made = {"metadata": metadata, "spec": {"containers": containers, **pod.pop("spec", {})}, **pod}
    request = {
        "uid": "705ab4f5",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": operation,
        "namespace": namespace,
        "dryRun": False,
        "object": {"apiVersion": "v1", "kind": "Pod", **made},
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def answered(asked: Json) -> ReviewVerdict:
    return CLAIMS.answer(json.dumps(asked).encode())


def response(verdict: ReviewVerdict) -> Json:
    answer: Json = json.loads(verdict.body)
    assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    found: Json = answer["response"]
    assert found["uid"] == "705ab4f5"
    assert found["allowed"] is True
    return found


def gates_after(asked: Json, verdict: ReviewVerdict) -> list[str]:
    """The gates of the pod once the API server has applied the answer's patch."""
    said = response(verdict)
    assert said["patchType"] == "JSONPatch"
    patched = json_patch(asked["request"]["object"], json.loads(base64.b64decode(said["patch"])))
    return [gate["name"] for gate in patched["spec"]["schedulingGates"]]


@pytest.mark.parametrize(
    ("gates", "then"), [([], [GATE]), (["example.com/wait"], ["example.com/wait", GATE])]
)
def test_a_possible_owner_gets_the_gate_beside_those_it_has(
    gates: list[str], then: list[str]
) -> None:
    spec = {"schedulingGates": [{"name": name} for name in gates]} if gates else {}
    asked = review(spec=spec)
    assert gates_after(asked, answered(asked)) == then


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (review("stale"), "too old"),
        (review("elsewhere"), "no claim index"),
        (review(operation="UPDATE"), "not new"),
        (review(metadata={"labels": {"app": "api"}}), "no owner rule"),
        (review(metadata={"managedFields": []}), "too old"),
        (review(spec={"nodeName": "a"}), "has its node"),
        (review(spec={"schedulerName": "other"}), "for other"),
        (review(spec={"schedulingGates": [{"name": GATE}]}), "already"),
        (review(metadata={"labels": {"app": "web", "headroom.dev/role": "latch"}}), "our own"),
    ],
)
def test_every_other_pod_passes_as_it_is(asked: Json, why: str) -> None:
    verdict = answered(asked)
    assert why in verdict.why
    assert set(response(verdict)) == {"uid", "allowed"}


def test_only_the_index_of_the_requests_namespace_counts() -> None:
    asked = review("elsewhere")
    asked["request"]["object"]["metadata"]["namespace"] = "shop"
    assert answered(asked).why


def test_a_dry_run_is_answered_alike() -> None:
    asked = review()
    wet = answered(asked)
    asked["request"]["dryRun"] = True
    assert answered(asked) == wet


def test_a_pod_that_asks_in_a_dialects_way_is_gated() -> None:
    asked = review(metadata={"labels": {}, "annotations": {ASKS: "7"}})
    assert gates_after(asked, ASKING.answer(json.dumps(asked).encode())) == [GATE]
    assert ASKING.answer(json.dumps(review()).encode()).why == "it asks for nothing"


def test_what_is_no_pod_passes() -> None:
    asked = review()
    asked["request"]["kind"]["kind"] = "Binding"
    assert answered(asked).why == "it is no pod"


def test_a_pod_that_cannot_be_read_passes_and_is_told() -> None:
    verdict = answered(review(spec={"nodeName": 7}))
    assert verdict.unreadable
    assert set(response(verdict)) == {"uid", "allowed"}


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"\xff", b'{"request": null}'])
def test_what_is_no_review_is_refused(text: bytes) -> None:
    with pytest.raises(NoReview):
        CLAIMS.answer(text)


@pytest.mark.parametrize("minutes", [-10, 10])
def test_how_fresh_an_index_is_goes_by_the_api_servers_clock_and_not_by_ours(minutes: int) -> None:
    theirs = datetime.now(UTC) + timedelta(minutes=minutes)
    fresh = {"shop": ClaimIndex({"label:app=web"}, theirs + timedelta(seconds=20))}
    judge = claims_judge(fresh.get, NATIVE)

    def why(created: datetime) -> str:
        stamped = {"managedFields": [{"manager": "kubectl", "time": format_time(created)}]}
        return judge.answer(json.dumps(review(metadata=stamped)).encode()).why

    assert why(theirs) == ""
    assert "too old" in why(theirs + timedelta(seconds=21))
