"""What an installation consists of, and that the operator's rights are just those it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from headroom.core.actions import (
    Action,
    Bind,
    CreateGuardian,
    CreateLatch,
    CreateSlotSet,
    DeleteObject,
    DeletePod,
    Disclaim,
    EndPod,
    LabelPod,
    MarkPreempted,
    MarkUnschedulable,
    Nominate,
    PromiseVolume,
    SelectNode,
    Tell,
    Ungate,
    WriteHeadroomStatus,
    WriteHoldStatus,
    WriteIndex,
    WriteOverhead,
)
from headroom.core.headrooms.headrooms import HeadroomStatus
from headroom.core.headrooms.node_overhead import Overhead
from headroom.core.holds import Hold, HoldStatus, PodTemplate
from headroom.core.objects import Key, Parent, Pod
from headroom.core.resources import Resources
from headroom.dialects.koordinator import KOORDINATOR
from headroom.dialects.korder import KORDER
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import (
    AUTOSCALERS,
    BUDGETS,
    CSI_NODES,
    HEADROOMS,
    HOLDS,
    NAMESPACES,
    NODES,
    PODS,
    RESOURCE_QUOTAS,
    SLOT_SETS,
    STORAGE_CLASSES,
    VOLUME_CLAIMS,
    VOLUMES,
    WORKLOADS,
)
from headroom.wire.manifests import Installation, install_objects, priority_classes
from headroom.wire.render import render
from headroom.wire.schema.own import known
from headroom.wire.schema.validation import validate
from tests.wire.toydialect import TOY

AT = datetime(2027, 1, 4, tzinfo=UTC)
KEY = Key("shop", "web-0")
PARENT = Parent("headroom.dev/v1alpha1", "Hold", "shop", "nightly", "u1")
HOLD = Hold(PARENT, PodTemplate(Pod(Key("shop", ""))))
REQUESTS = Resources({"cpu": 1000})
STORAGE = (VOLUME_CLAIMS, VOLUMES, STORAGE_CLASSES, CSI_NODES)
SEEN = (*STORAGE, RESOURCE_QUOTAS, BUDGETS, AUTOSCALERS)
ACTIONS: tuple[Action, ...] = (
    CreateGuardian("guardian", HOLD, REQUESTS),
    CreateLatch(KEY, PARENT, REQUESTS, "node-1"),
    Nominate(KEY, "u", "node-1"),
    DeletePod(KEY, "u"),
    MarkPreempted(KEY, "u", "for another", AT),
    EndPod(KEY, "u", AT),
    Ungate(KEY, "u", "headroom.dev/claim", 0),
    LabelPod(KEY, "u", "headroom.dev/beside-1", "u"),
    Bind(KEY, "u", "node-1"),
    Disclaim(KEY, "u"),
    Disclaim(KEY, "u", nominated=True),
    MarkUnschedulable(KEY, "u", "no room", AT),
    SelectNode(KEY, "u", "node-1"),
    PromiseVolume("disk", "1", KEY, "u"),
    DeleteObject(PARENT),
    WriteHoldStatus(PARENT, HoldStatus()),
    WriteHeadroomStatus(replace(PARENT, kind="Headroom"), HeadroomStatus()),
    Tell("v1", "Pod", KEY, "u", "Normal", "Claimed", "words", AT),
    WriteIndex("shop", ("*",), AT),
    WriteOverhead(Overhead(PARENT, HOLD.template)),
    WriteOverhead(Overhead(PARENT, HOLD.template), "u"),
    CreateSlotSet(replace(PARENT, kind="Headroom")),
)


def installed(**settings: Any) -> list[dict[str, Any]]:
    return install_objects(Installation("example.com/headroom:1", **settings))


def granted() -> Iterator[tuple[str, str, str]]:
    """Yield (verb, group, resource) of the operator's cluster-wide rights."""
    (role,) = [
        made
        for made in installed()
        if made["kind"] == "ClusterRole" and made["metadata"]["name"] == "headroom-operator"
    ]
    for rule in role["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                yield from ((verb, group, resource) for verb in rule["verbs"])


def needed() -> Iterator[tuple[str, str, str]]:
    """Yield what the watches and every action ask of the API server."""
    for watched in (PODS, NODES, NAMESPACES, HOLDS, HEADROOMS, SLOT_SETS, *WORKLOADS, *SEEN):
        yield from ((verb, watched.group, watched.plural) for verb in ("list", "watch"))
    yield from (("get", "", "namespaces"), ("get", HEADROOMS.group, "headrooms"))
    for action in ACTIONS:
        write = render(action)
        path = write.resource.plural
        if write.subresource:
            path = f"{path}/{write.subresource}"
        yield write.verb, write.resource.group, path
    # Applying from the server's side may create; an event told again is counted up.
    yield "create", HOLDS.group, "claimindexes"
    yield "patch", "", "events"
    # `kube.cluster` tells which LimitRange refuses a guardian.
    yield "list", "", "limitranges"
    # `kube.prerequisites` looks whether the installation is whole.
    yield "get", "scheduling.k8s.io", "priorityclasses"
    for plural in ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"):
        yield "get", "admissionregistration.k8s.io", plural


def test_the_operator_may_do_what_it_does_and_nothing_else() -> None:
    assert sorted(set(granted())) == sorted(set(needed()))


def test_editing_holds_is_not_for_every_editor_unless_asked_for() -> None:
    def aggregated(**settings: Any) -> list[str]:
        (role,) = [
            made for made in installed(**settings) if made["metadata"]["name"] == "headroom-edit"
        ]
        return [label for label in role["metadata"]["labels"] if "aggregate" in label]

    assert aggregated() == []
    assert len(aggregated(tenant_edit=True)) == 2


def test_where_some_namespaces_are_served_nothing_is_written_elsewhere() -> None:
    codecs = KindCodecs((KORDER, KOORDINATOR))
    made = installed(namespaces=("shop", "bank"), codecs=codecs)
    roles = {
        (each["kind"], each["metadata"].get("namespace", "")): each["rules"]
        for each in made
        if each["kind"] in ("Role", "ClusterRole")
        and each["metadata"]["name"] == "headroom-operator"
    }
    assert list(roles) == [
        ("ClusterRole", ""),
        ("Role", "headroom-system"),
        ("Role", "shop"),
        ("Role", "bank"),
        ("Role", "headroom-reservations"),
    ]
    written = [
        resource
        for rule in roles["ClusterRole", ""]
        if set(rule["verbs"]) - {"get", "list", "watch"}
        for resource in rule["resources"]
    ]
    assert {name.partition("/")[0] for name in written} == {
        "quotas",
        "reservations",
        "persistentvolumes",  # which are in no namespace: see their policy
    }
    assert {"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "delete", "patch"]} in (
        roles["Role", "shop"]
    )
    bound = [each for each in made if each["kind"] == "RoleBinding"]
    assert {each["metadata"]["namespace"] for each in bound} == {
        place for _, place in roles if place
    }
    assert {each["subjects"][0]["namespace"] for each in bound} == {"headroom-system"}
    (deployment,) = [each for each in made if each["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert "--namespaces=shop,bank" in container["args"]


def test_metrics_are_open_only_where_asked_for() -> None:
    def opened(**settings: Any) -> tuple[list[Any], list[int], Any]:
        made = {each["kind"]: each for each in installed(**settings)}
        (container,) = made["Deployment"]["spec"]["template"]["spec"]["containers"]
        served = [each for each in container["args"] if each.startswith(("--http", "--probes"))]
        ports = [port["containerPort"] for port in container["ports"]]
        return served, ports, made["NetworkPolicy"]["spec"]["ingress"]

    assert opened() == (["--probes=0.0.0.0:8080", "--http=127.0.0.1:8081"], [8080], [])
    assert opened(metrics=True) == (
        ["--probes=0.0.0.0:8080", "--http=0.0.0.0:8081"],
        [8080, 8081],
        [{"ports": [{"protocol": "TCP", "port": 8081}]}],
    )


def test_nothing_of_the_operator_is_granted_by_a_wildcard() -> None:
    assert not [right for right in granted() if "*" in right]


def test_the_lease_is_granted_by_name_and_in_the_own_namespace_only() -> None:
    (role,) = [made for made in installed(namespace="spare") if made["kind"] == "Role"]
    assert role["metadata"]["namespace"] == "spare"
    create, keep = role["rules"]
    assert create["verbs"] == ["create"]
    assert keep["resourceNames"] == ["headroom-operator"]


def test_the_priority_classes_have_the_promised_values() -> None:
    found = [(c["metadata"]["name"], c["value"], c["preemptionPolicy"]) for c in priority_classes()]
    assert found == [
        ("headroom-locked", 1_000_000_000, "Never"),
        ("headroom-preemptible", -10, "Never"),
    ]


def test_the_definitions_come_before_what_uses_them() -> None:
    kinds = [made["kind"] for made in installed()]
    assert kinds.index("CustomResourceDefinition") < kinds.index("MutatingAdmissionPolicy")
    assert kinds.index("Namespace") < kinds.index("ServiceAccount") < kinds.index("Deployment")


def test_a_cluster_without_mutating_policies_gets_none() -> None:
    assert not [made for made in installed(policy=False) if "Mutating" in made["kind"]]


def test_each_object_is_there_once() -> None:
    names = [
        (made["kind"], made["metadata"].get("namespace"), made["metadata"]["name"])
        for made in installed()
    ]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "kind", ["Deployment", "PodDisruptionBudget", "Namespace", "ServiceAccount", "PriorityClass"]
)
def test_objects_of_kubernetes_have_no_unknown_fields(kind: str) -> None:
    made = [each for each in installed() if each["kind"] == kind]
    assert [problem for each in made for problem in validate(each, kind, known())] == []


def test_the_image_replicas_and_arguments_are_those_asked_for() -> None:
    (deployment,) = [
        made
        for made in installed(replicas=3, arguments=("--dialect=korder",))
        if made["kind"] == "Deployment"
    ]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "example.com/headroom:1"
    assert container["args"][0] == "run"
    assert container["args"][-1] == "--dialect=korder"
    assert deployment["spec"]["replicas"] == 3


def test_a_dialect_adds_its_rights_and_nothing_else_changes() -> None:
    def rules(objects: list[dict[str, Any]]) -> list[Any]:
        roles = [made for made in objects if made["kind"] == "ClusterRole"]
        return [rule for made in roles for rule in made["rules"]]

    plain, spoken = rules(installed()), rules(installed(codecs=KindCodecs((TOY,))))
    added = [rule for rule in spoken if rule not in plain]
    named = [rule for rule in added if "resourceNames" in rule]
    assert [rule["resourceNames"] for rule in named] == [
        ["claim-gate.headroom.dev", "asks-gate.headroom.dev"],
        ["theatre-manager"],
    ]
    assert {rule["apiGroups"][0] for rule in added if rule not in named} == {"theatre.example.com"}


def test_the_operator_is_told_which_dialects_it_speaks() -> None:
    made = installed(codecs=KindCodecs((TOY,)), arguments=("--log-level=debug",))
    (deployment,) = [each for each in made if each["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["args"][-2:] == ["--dialect=toy", "--log-level=debug"]
    names = [each["metadata"]["name"] for each in made]
    assert "seats.theatre.example.com" in names
