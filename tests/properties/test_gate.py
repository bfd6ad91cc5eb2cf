"""The gate is put on the same pods by the admission policy's own text and by `core.claim_gate`.

The policy is written in CEL and runs inside the API server; the webhook and the simulator ask a
Python function. Here both are asked about the same pods.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headroom.core.claim_gate import asking_pod_refusal, claim_refusal
from headroom.core.objects import Pod
from headroom.dialects.korder import KORDER
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import PODS as POD_KIND
from headroom.wire.objects.claimindexes import decode_index
from headroom.wire.objects.reader import to_text
from headroom.wire.policy import policy_objects
from headroom.wire.times import format_time
from tests.wire.minicel import NoSuchField, evaluate

Json = dict[str, Any]
NOW = datetime(2027, 1, 4, tzinfo=UTC)
CODECS = KindCodecs([KORDER])
ASKS = ("korder.dev/ticket-request", "korder.dev/order")
CLAIMS, _, ASKING, _ = policy_objects(ASKS, "headroom-system")
NAMES = ("a", "b")
KEYS = ["*", *(f"{form}:{name}" for form in ("name", "controller", "exists") for name in NAMES)]
KEYS += [f"label:{key}={value}" for key in NAMES for value in NAMES]
KEYS += [f"asks:{name}" for name in ASKS]


def mostly(usual: object, *others: object) -> st.SearchStrategy[Any]:
    """The usual value in most pods, so that each condition alone decides in many of them."""
    return st.sampled_from([usual] * 6 * len(others) + list(others))


def named(*names: str) -> list[Json]:
    return [{"name": name} for name in names]


def stamp(seconds: int) -> Json:
    return {"time": format_time(NOW + timedelta(seconds=seconds))}


def filled(thing: Json) -> Json:
    """The API server leaves out what is empty."""
    return {key: value for key, value in thing.items() if value}


METADATA = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["", *NAMES]),
        "namespace": st.just("shop"),
        "labels": mostly({"a": "b"}, {}, {"a": "a", "b": "a"}, {"a": "b", "headroom.dev/role": ""}),
        "annotations": mostly({ASKS[0]: "x", "else": "y"}, {}, {ASKS[1]: "x", "b": ""}, {"c": ""}),
        "ownerReferences": mostly([], named("a"), named("c", "b")),
        "managedFields": mostly(
            [stamp(-1), stamp(1)], [], [stamp(0)], [stamp(1), stamp(-1)], [{"manager": "kubectl"}]
        ),
    }
)
SPEC = st.fixed_dictionaries(
    {
        "priority": mostly(0, 1000, 2000, -5),
        "nodeName": mostly("", "node-1"),
        "schedulerName": mostly("default-scheduler", "", "headroom-scheduler"),
        "schedulingGates": mostly(
            [], named("other"), named("headroom.dev/claim"), named("other", "headroom.dev/claim")
        ),
    }
)
PODS = st.builds(
    lambda metadata, spec: {"metadata": filled(metadata), "spec": filled(spec)}, METADATA, SPEC
)
INDEXES = st.builds(
    lambda keys, priority: {
        "spec": filled(
            {
                "keys": dict.fromkeys(sorted(keys), True),
                "freshUntil": format_time(NOW),
                "priorityAtLeast": priority,
            }
        )
    },
    st.sets(st.sampled_from(KEYS), min_size=0, max_size=9),
    mostly(None, -5, 1500),
)


def gates(policy: Json, pod: Json, index: Json) -> bool:
    """Whether all conditions of the policy hold; one that cannot be judged means no."""
    scope = {"object": pod, "params": index}
    try:
        conditions = policy["spec"]["matchConditions"]
        return all(evaluate(each["expression"], scope) for each in conditions)
    except NoSuchField:
        return False


def stamped(pod: Json) -> datetime | None:
    fields: list[Json] = pod["metadata"].get("managedFields") or [{}]
    return datetime.fromisoformat(fields[0]["time"]) if "time" in fields[0] else None


@given(PODS, INDEXES)
def test_the_policies_and_the_functions_gate_the_same_pods(made: Json, index: Json) -> None:
    pod, known = CODECS.thing_from(POD_KIND, made), decode_index(to_text("ClaimIndex", index))
    at = stamped(made)
    assert isinstance(pod, Pod)
    assert (claim_refusal(pod, known, at) is None) == gates(CLAIMS, made, index)
    assert (asking_pod_refusal(pod, known, at, ASKS) is None) == gates(ASKING, made, index)


def test_both_answers_are_met() -> None:
    """The agreement above is about something."""
    pod = {"metadata": {"labels": {"a": "b"}, "managedFields": [{"time": format_time(NOW)}]}}
    until = format_time(NOW + timedelta(seconds=1))
    index = {"spec": {"keys": {"label:a=b": True}, "freshUntil": until}}
    assert gates(CLAIMS, {**pod, "spec": {}}, index)
    assert not gates(CLAIMS, {**pod, "spec": {"nodeName": "x"}}, index)
