"""Tenants write our labels, annotations and priority classes: refused, whoever writes for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headroom.wire.kinds import DEPLOYMENTS, EVENTS, NAMESPACES, PODS
from testbed.api import ApiFailure, Json
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import Stage, Tenant, stage_of
from tests.e2e.installing import until
from tests.stories.things import headroom, hold, pod

pytestmark = pytest.mark.e2e
REFUSED = "ValidatingAdmissionPolicy"
WHERE: Json = {"nodeSelector": {"pool": "commons"}}


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory) as stage:
        yield stage


@pytest.fixture(scope="module")
def mallory(stage: Stage) -> Tenant:
    tenant = stage.tenant("forger")

    def in_force() -> bool:
        try:
            forged = marked(pod("probe"), labels={"headroom.dev/role": "guardian"})
            tenant.api.create(f"{PODS.path(tenant.name)}?dryRun=All", without_namespace(forged))
        except ApiFailure as failure:
            return REFUSED in str(failure)
        return False

    until("the policies are in force", in_force)
    return tenant


def without_namespace(thing: Json) -> Json:
    metadata = {key: value for key, value in thing["metadata"].items() if key != "namespace"}
    return {**thing, "metadata": metadata}


def marked(thing: Json, **metadata: Any) -> Json:
    return {**thing, "metadata": {**thing["metadata"], **metadata}}


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"headroom.dev/role": "guardian"}},
        {"labels": {"headroom.dev/role": "fence"}},
        {"labels": {"headroom.dev/for": "nightly"}},
        {"labels": {"headroom.dev/pass": "true"}},
        {"labels": {"headroom.dev/allocate-policy": "none"}},
        {"labels": {"headroom.dev/beside-12345678": "u"}},
        {"annotations": {"headroom.dev/claimed": "Hold/victim/nightly"}},
        {"annotations": {"headroom.dev/claimed-uid": "u"}},
        {"annotations": {"headroom.dev/claims": "x"}},
        {"annotations": {"headroom.dev/parent": "Hold/victim/nightly"}},
        {"annotations": {"headroom.dev/slot": "0"}},
        {"annotations": {"headroom.dev/shape": "0"}},
        {"annotations": {"headroom.dev/node": "commons-0"}},
        {"annotations": {"headroom.dev/anything-new": "0"}},
    ],
    ids=str,
)
def test_a_tenant_writes_no_reserved_name_on_a_pod(mallory: Tenant, metadata: Json) -> None:
    with pytest.raises(ApiFailure, match=REFUSED):
        mallory.create(marked(pod("forged", "100m", **WHERE), **metadata))
    mallory.create(pod("plain", "100m", **WHERE))
    for part in ("", "status"):
        path = PODS.path(mallory.name, "plain", part)
        with pytest.raises(ApiFailure, match=f"{REFUSED}|forbidden"):
            mallory.api.patch(path, {"metadata": metadata})
    mallory.delete("Pod", "plain")


@pytest.mark.parametrize(
    "name",
    [
        "headroom-locked",
        "headroom-preemptible",
        "karpenter-proactive-scaleup-placeholder",
        "mount-s3-headroom",
    ],
)
def test_a_tenants_pod_has_no_class_of_guardians(mallory: Tenant, name: str) -> None:
    with pytest.raises(ApiFailure, match=REFUSED):
        mallory.create(pod("forged", "100m", priorityClassName=name, **WHERE))


def test_a_deployment_does_not_write_them_for_a_tenant(stage: Stage, mallory: Tenant) -> None:
    """The pods are made by a controller, which has no right to these names either."""
    labels = {"app": "front", "headroom.dev/pass": "true"}
    template = {"metadata": {"labels": labels}, "spec": pod("x", "100m", **WHERE)["spec"]}
    del template["spec"]["terminationGracePeriodSeconds"]
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "front"}}, "template": template}
    body = {"metadata": {"name": "front"}, "spec": spec}
    mallory.api.create(DEPLOYMENTS.path(mallory.name), body)

    def told() -> bool:
        events = stage.plane.api.items(EVENTS.path(mallory.name))
        return any(REFUSED in each["message"] for each in events)

    until("the controller tells why there is no pod", told)
    found = stage.plane.api.items(f"{PODS.path(mallory.name)}?labelSelector=app=front")
    assert not found
    del labels["headroom.dev/pass"]
    change = {"spec": {"template": {"metadata": {"labels": {"headroom.dev/pass": None}}}}}
    mallory.api.patch(DEPLOYMENTS.path(mallory.name, "front"), change)

    def runs() -> bool:
        found = stage.plane.api.items(f"{PODS.path(mallory.name)}?labelSelector=app=front")
        return any(each["status"]["phase"] == "Running" for each in found)

    until("an honest template goes on", runs)
    mallory.api.delete(DEPLOYMENTS.path(mallory.name, "front"))


@pytest.mark.parametrize(
    "metadata",
    [
        {"annotations": {"headroom.dev/priority-class": "gold"}},
        {"annotations": {"headroom.dev/remark": "trust me"}},
        {"labels": {"headroom.dev/role": "guardian"}},
    ],
    ids=str,
)
def test_a_tenant_writes_no_reserved_name_on_our_kinds(mallory: Tenant, metadata: Json) -> None:
    for thing in (hold("forged"), headroom("forged")):
        with pytest.raises(ApiFailure, match=REFUSED):
            mallory.create(marked(thing, **metadata))


def test_who_may_write_a_namespace_still_writes_no_limits(stage: Stage, mallory: Tenant) -> None:
    rights = [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["patch"]}]
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    stage.plane.api.ensure(f"{rbac}/clusterroles", {"metadata": {"name": "namer"}, "rules": rights})
    bound = {
        "metadata": {"name": "namer"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "namer",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "tenant", "namespace": mallory.name}],
    }
    stage.plane.api.ensure(f"{rbac}/clusterrolebindings", bound)
    path = NAMESPACES.path(name=mallory.name)

    def opted_in() -> bool:
        try:
            mallory.api.patch(path, {"metadata": {"labels": {"headroom.dev/claims": "enabled"}}})
        except ApiFailure:
            return False
        return True

    until("the tenant may label its namespace", opted_in)
    limits = {"metadata": {"annotations": {"headroom.dev/limits": "slots=1000000"}}}
    with pytest.raises(ApiFailure, match=REFUSED):
        mallory.api.patch(path, limits)
    stage.plane.api.patch(path, limits)
    with pytest.raises(ApiFailure, match=REFUSED):
        mallory.api.patch(path, {"metadata": {"annotations": {"headroom.dev/limits": None}}})
    mallory.api.patch(path, {"metadata": {"labels": {"headroom.dev/claims": None}}})
    stage.plane.api.delete(f"{rbac}/clusterrolebindings/namer")


def test_what_is_for_users_to_write_stays_theirs(stage: Stage, mallory: Tenant) -> None:
    """The gate, our scheduler's name and the wish to wait; claimed pods can still be changed."""
    waits = {"annotations": {"headroom.dev/wait": "true"}}
    mallory.create(marked(pod("waits", "100m", app="later", gated=True, **WHERE), **waits))
    mallory.create(hold("later", "100m", app="later", template=WHERE))
    path = PODS.path(mallory.name, "waits")
    until("the owner has its hold", lambda: bool(claim_of(mallory, "waits")))
    mallory.api.patch(path, {"metadata": {"labels": {"tier": "web"}}})
    with pytest.raises(ApiFailure, match=REFUSED):
        mallory.api.patch(path, {"metadata": {"annotations": {"headroom.dev/claimed": None}}})
    with stage.unhurt():
        pass
    for kind, name in (("Pod", "waits"), ("Hold", "later")):
        mallory.delete(kind, name)


def claim_of(tenant: Tenant, name: str) -> str:
    annotations = tenant.get("Pod", name)["metadata"].get("annotations") or {}
    return str(annotations.get("headroom.dev/claimed", ""))
