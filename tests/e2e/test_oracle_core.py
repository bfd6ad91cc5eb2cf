"""Core's arithmetic and matching against what the real API server and kube-scheduler 1.36 say.

Every case is generated from a fixed seed, so a failure comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import quote

import pytest

from headroom.core.amounts import amount
from headroom.core.objects import LabelSelector, NodeTerm, Requirement, Toleration
from headroom.core.quantity import QuantityError, parse_quantity
from headroom.core.selection import matches, node_matches, untolerated
from headroom.core.selector_validation import (
    node_term_refusal,
    selector_refusal,
    toleration_refusal,
)
from headroom.wire.objects.nodes import node_from
from headroom.wire.objects.pods import pod_from
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from testbed.nodes import fake_node
from tests.e2e.core_cases import ODD_TEXTS, Cases, Json
from tests.scheduling.lockstep import eventually

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("binaries")]

PODS = "/api/v1/namespaces/default/pods"
DRY_RUN = f"{PODS}?dryRun=All"
NODES = tuple(f"n{index}" for index in range(8))
UNHEARD = "nobody"  # A scheduler name to which no scheduler answers.


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """An API server and a kube-scheduler; there is no controller that would change our objects."""
    directory = tmp_path_factory.mktemp("oracle-core")
    with ControlPlane.start(directory, controller_manager=False) as control_plane:
        # The controller manager would have made it, and pods are not let in without.
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        control_plane.api.ensure(accounts, {"metadata": {"name": "default"}})
        yield control_plane


def quantity_texts(seed: int) -> tuple[str, ...]:
    cases = Cases(seed)
    return tuple(dict.fromkeys((*ODD_TEXTS, *(cases.quantity() for _ in range(500)))))


def status_of(plane: ControlPlane, pod: Json) -> int:
    """What the API server answers to a pod: 201 for yes, 400 for unreadable, 422 for unsound."""
    try:
        plane.api.create(DRY_RUN, pod)
    except ApiFailure as failure:
        return failure.status
    return 201


def refused_by_us(text: str) -> bool:
    try:
        parse_quantity(text)
    except QuantityError:
        return True
    return False


def pod_with_volumes(texts: Iterable[str]) -> Json:
    """A pod whose volumes have these sizes: a quantity that the API server does not round."""
    volumes = [
        {"name": f"v{index}", "emptyDir": {"sizeLimit": text}} for index, text in enumerate(texts)
    ]
    return {
        "metadata": {"name": "sizes"},
        "spec": {"containers": [{"name": "main", "image": "none"}], "volumes": volumes},
    }


def sizes_of(pod: Json) -> list[str]:
    sized = (volume["emptyDir"] for volume in pod["spec"]["volumes"] if "emptyDir" in volume)
    return [volume["sizeLimit"] for volume in sized]


def test_quantities_are_printed_as_the_api_server_prints_them(plane: ControlPlane) -> None:
    texts = [
        text
        for text in quantity_texts(1)
        if not refused_by_us(text) and parse_quantity(text).unscaled >= 0
    ]
    answer = plane.api.create(DRY_RUN, pod_with_volumes(texts))
    printed = dict(zip(texts, sizes_of(answer), strict=True))
    assert len(printed) > 300
    assert printed == {text: str(parse_quantity(text)) for text in texts}


def test_negative_quantities_are_read_and_printed_before_they_are_refused(
    plane: ControlPlane,
) -> None:
    # No finer than thousandths: the API server rounds requests to those before it judges them.
    texts = [
        text
        for text in quantity_texts(2)
        if not refused_by_us(text)
        and parse_quantity(text).unscaled < 0
        and parse_quantity(text).exponent >= -3
    ]
    assert len(texts) > 15
    with pytest.raises(ApiFailure) as refusal:
        plane.api.create(DRY_RUN, pod_with_requests(texts))
    assert refusal.value.status == 422
    missing = [text for text in texts if f'"{parse_quantity(text)}"' not in str(refusal.value)]
    assert missing == []


def pod_with_requests(texts: Iterable[str]) -> Json:
    """A pod whose containers ask for these amounts of CPU and memory."""
    containers = [
        {"name": f"c{index}", "image": "none", "resources": {"requests": {"cpu": t, "memory": t}}}
        for index, t in enumerate(texts)
    ]
    return {"metadata": {"name": "amounts"}, "spec": {"containers": containers}}


def test_the_api_server_refuses_every_text_that_we_refuse(plane: ControlPlane) -> None:
    texts = [text for text in quantity_texts(3) if refused_by_us(text)]
    assert len(texts) > 40
    statuses = {text: status_of(plane, pod_with_volumes([text])) for text in texts}
    assert statuses == dict.fromkeys(texts, 400)


def test_rounding_by_the_api_server_changes_no_amount(plane: ControlPlane) -> None:
    texts = [
        text
        for text in quantity_texts(4)
        if not refused_by_us(text) and 0 <= parse_quantity(text).milli_value() < 2**62
    ]
    answer = plane.api.create(DRY_RUN, pod_with_requests(texts))
    assert len(texts) > 100
    for text, container in zip(texts, answer["spec"]["containers"], strict=True):
        for name, answered in container["resources"]["requests"].items():
            assert amount(name, answered) == amount(name, text), (name, text, answered)


def test_a_pod_asks_for_the_same_before_and_after_the_api_server_fills_it_in(
    plane: ControlPlane,
) -> None:
    cases = Cases(5)
    for index in range(150):
        pod = cases.demanding_pod(f"d{index}")
        stored = plane.api.create(DRY_RUN, pod)
        ours, theirs = pod_from(pod), pod_from(stored)
        assert ours.requests == theirs.requests, stored["spec"]
        assert ours.nonzero_requests == theirs.nonzero_requests, stored["spec"]


def spelled(expression: Json) -> str:
    """A requirement as the labelSelector parameter has it."""
    key, values = expression["key"], ",".join(expression["values"])
    texts: dict[str, str] = {
        "In": f"{key} in ({values})",
        "NotIn": f"{key} notin ({values})",
        "Exists": key,
        "DoesNotExist": f"!{key}",
        "Gt": f"{key}>{values}",
        "Lt": f"{key}<{values}",
    }
    return texts[str(expression["operator"])]


def requirement(expression: Json) -> Requirement:
    return Requirement(expression["key"], expression["operator"], tuple(expression["values"]))


def test_label_selectors_select_the_same_pods(plane: ControlPlane) -> None:
    cases = Cases(6)
    labels = {f"l{index}": {"of": "selectors", **cases.labels()} for index in range(40)}
    for name, own in labels.items():
        plane.api.create(PODS, plain_pod(name, own, schedulerName=UNHEARD))
    selected = 0
    for _ in range(200):
        expressions = [cases.expression() for _ in range(cases.chance.choice((1, 1, 2, 3)))]
        text = ",".join(("of=selectors", *map(spelled, expressions)))
        found = plane.api.items(f"{PODS}?labelSelector={quote(text)}")
        theirs = sorted(pod["metadata"]["name"] for pod in found)
        selector = LabelSelector(tuple(map(requirement, expressions)))
        ours = sorted(name for name, own in labels.items() if matches(selector, own))
        assert ours == theirs, text
        selected += len(theirs)
    assert selected > 200


def plain_pod(name: str, labels: dict[str, str] | None = None, **spec: object) -> Json:
    container = {"name": "main", "image": "none"}
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"containers": [container], **spec},
    }


UNSOUND_VALUES = ("-", "x" * 64, "a b", "ä")


@pytest.mark.parametrize(
    "expression",
    [
        Requirement("a", "In"),
        Requirement("a", "NotIn"),
        Requirement("a", "Exists", ("x",)),
        Requirement("a", "DoesNotExist", ("x",)),
        Requirement("a", "in", ("x",)),
        Requirement("a", "Gt", ("1",)),
        Requirement("", "Exists"),
        Requirement("-a", "Exists"),
        Requirement("a/b/c", "Exists"),
        Requirement("/a", "Exists"),
        Requirement("A.example/a", "Exists"),
        Requirement("x" * 64, "Exists"),
        Requirement("x" * 63, "Exists"),
        Requirement("a.b/A_b-9", "Exists"),
        Requirement("a", "In", ("x", "")),
        *(Requirement("a", "In", (value,)) for value in UNSOUND_VALUES),
    ],
)
def test_selectors_are_let_in_by_both_or_by_neither(
    plane: ControlPlane, expression: Requirement
) -> None:
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchExpressions": [as_json(expression)]},
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    status = status_of(plane, plain_pod("soundness", affinity={"podAffinity": required}))
    assert (201 if selector_refusal(LabelSelector((expression,))) is None else 422) == status


def as_json(expression: Requirement) -> Json:
    return {
        "key": expression.key,
        "operator": expression.operator,
        "values": list(expression.values),
    }


@pytest.mark.parametrize(
    "term",
    [
        NodeTerm(),
        NodeTerm(labels=(Requirement("a", "Gt", ("1",)),)),
        NodeTerm(labels=(Requirement("a", "Gt", ("1", "2")),)),
        NodeTerm(labels=(Requirement("a", "Lt"),)),
        NodeTerm(labels=(Requirement("a", "Near", ("1",)),)),
        NodeTerm(labels=(Requirement("a", "In", ("a b",)),)),
        NodeTerm(fields=(Requirement("metadata.name", "In", ("n0",)),)),
        NodeTerm(fields=(Requirement("metadata.name", "NotIn", ("n0.example.com",)),)),
        NodeTerm(fields=(Requirement("metadata.name", "In", ("n0", "n1")),)),
        NodeTerm(fields=(Requirement("metadata.name", "Exists"),)),
        NodeTerm(fields=(Requirement("metadata.name", "In", ("N0",)),)),
        NodeTerm(fields=(Requirement("metadata.uid", "In", ("n0",)),)),
    ],
)
def test_node_terms_are_let_in_by_both_or_by_neither(plane: ControlPlane, term: NodeTerm) -> None:
    written = {
        "matchExpressions": list(map(as_json, term.labels)),
        "matchFields": list(map(as_json, term.fields)),
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [written]}}
    status = status_of(plane, plain_pod("soundness", affinity={"nodeAffinity": required}))
    assert (201 if node_term_refusal(term) is None else 422) == status


@pytest.mark.parametrize(
    "toleration",
    [
        Toleration("", "Exists"),
        Toleration("", "Equal"),
        Toleration("a", "Exists", "x"),
        Toleration("a", "Equal", "x", "NoSchedule"),
        Toleration("a", "Equal", "a b"),
        Toleration("a b", "Exists"),
        Toleration("a", "Exists", "", "Never"),
        Toleration("a", "Lt", "5"),
        Toleration("a", "Gt", "5"),
        Toleration("a", "Exists", "", "NoExecute", 5),
        Toleration("a", "Exists", "", "", 5),
    ],
)
def test_tolerations_are_let_in_by_both_or_by_neither(
    plane: ControlPlane, toleration: Toleration
) -> None:
    written: Json = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
    }
    if toleration.seconds is not None:
        written["tolerationSeconds"] = toleration.seconds
    status = status_of(plane, plain_pod("soundness", tolerations=[written]))
    assert (201 if toleration_refusal(toleration) is None else 422) == status


def outcomes(plane: ControlPlane, names: frozenset[str]) -> dict[str, str] | None:
    """Where each pod went, "" for nowhere; None while the scheduler is not done with them."""
    found = {}
    for pod in plane.api.items(PODS):
        if pod["metadata"]["name"] not in names:
            continue
        node = pod["spec"].get("nodeName", "")
        conditions = pod["status"].get("conditions", ())
        if node or any(one["type"] == "PodScheduled" for one in conditions):
            found[pod["metadata"]["name"]] = node
    return found if len(found) == len(names) else None


def test_pods_go_where_we_say_they_may_and_wait_where_we_say_they_must(
    plane: ControlPlane,
) -> None:
    cases = Cases(7)
    nodes = []
    for name in NODES:
        taints = [cases.taint() for _ in range(cases.chance.choice((0, 0, 1, 1, 2)))]
        unique = list({(taint["key"], taint["effect"]): taint for taint in taints}.values())
        capacity = {"cpu": "64", "memory": "64Gi", "pods": "500"}
        plane.api.create("/api/v1/nodes", fake_node(name, capacity, cases.labels()))
        # Admission has added the taint of nodes that are not ready; nobody is there to remove it.
        nodes.append(
            node_from(plane.api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": unique}}))
        )
    pods = [plain_pod(f"p{index}", **cases.placement(NODES)) for index in range(300)]
    plane.api.for_each(lambda pod: plane.api.create(PODS, pod), pods)
    names = frozenset(str(pod["metadata"]["name"]) for pod in pods)
    real = eventually(lambda: outcomes(plane, names), "every pod is placed or not", 120.0)
    waiting = 0
    for pod in pods:
        placement = pod_from(pod).placement
        allowed = [
            node.name
            for node in nodes
            if node_matches(placement, node)
            and untolerated(node.taints, placement.tolerations) is None
        ]
        chosen = real[pod["metadata"]["name"]]
        assert chosen in (allowed or [""]), (pod["spec"], allowed, chosen)
        waiting += not chosen
    assert 50 < waiting < 250
