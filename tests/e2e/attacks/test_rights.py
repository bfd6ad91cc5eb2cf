"""Each right to write is taken from a running operator in one namespace: told, and only that stops.

An installation for some namespaces has its rights to write as a Role in each of them, so that one
can go where another stays. `test_faults` and `test_pods_hidden` have the rights to read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from headroom.wire.install.rights import ACCOUNT, rights
from headroom.wire.kinds import HEADROOMS, HOLDS, NAMESPACES, PODS
from headroom.wire.manifests import Installation, install_objects
from headroom.wire.rbac import READ
from testbed.api import ApiFailure, Json
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import HOME, NOW, RBAC
from tests.e2e.installing import install, until
from tests.e2e.processes import LOST_THE_LEAD, OperatorProcess
from tests.stories.things import headroom, hold, pod

pytestmark = pytest.mark.e2e
SHOP, BANK = "shop", "bank"
ADMISSION = "/apis/admissionregistration.k8s.io/v1/validatingadmission"
GATES_CLOSED = "gates-stay-closed"
# What a Hold, a Headroom and an owner at each door make the operator write.
SHOWN = (
    ("create", "pods"),
    ("delete", "pods"),
    ("patch", "pods"),
    ("patch", "pods/status"),
    ("create", "pods/binding"),
    ("patch", "holds/status"),
    ("patch", "headrooms/status"),
    ("create", "slotsets"),
    ("patch", "claimindexes"),
    ("create", "events"),
)
# Asked for in the same breath as one of those, or by rare works that tests of their own have.
NOT_SHOWN = {
    ("create", "claimindexes"): "applied from the server's side, as patch",
    ("patch", "events"): "of an event that is told again",
    ("delete", "holds"): "tests/stories: holds that ended long ago",
    ("patch", "persistentvolumeclaims"): "tests/stories: volumes that wait for their first pod",
    ("create", "daemonsets"): "tests/e2e/test_karpenter_pernode.py",
    ("patch", "daemonsets"): "tests/e2e/test_karpenter_pernode.py",
}


@pytest.fixture(scope="module")
def plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of its own, with an installation for two namespaces."""
    with ControlPlane.start(tmp_path_factory.mktemp("rights"), kwok=True) as plane:
        for name in (SHOP, BANK):
            labels = {"headroom.dev/claims": "enabled"}
            plane.api.create(NAMESPACES.path(), {"metadata": {"name": name, "labels": labels}})
        narrow = Installation("example.com/headroom:1", replicas=0, namespaces=(SHOP, BANK))
        install(plane, install_objects(narrow))
        for name in (SHOP, BANK):  # A latch that must stay keeps others off its node.
            plane.add_fake_nodes(1, cpu="16", labels={"pool": name}, prefix=name)
        plane.wait_nodes_ready(2)
        yield plane


@pytest.fixture(scope="module")
def operator(
    plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OperatorProcess]:
    account = plane.service_account_kubeconfig(HOME, ACCOUNT, seconds=7200)
    log = tmp_path_factory.mktemp("operator") / "log"
    with OperatorProcess(account, log, "--namespaces", f"{SHOP},{BANK}") as operator:
        yield operator


def role_rules() -> list[Json]:
    """What the Role of a served namespace allows."""
    made = rights(HOME, served=(HOME, SHOP))
    (role,) = (
        each for each in made if (each["kind"], each["metadata"].get("namespace")) == ("Role", SHOP)
    )
    rules: list[Json] = role["rules"]
    return rules


def test_every_right_to_write_is_accounted_for() -> None:
    granted = {
        (verb, resource)
        for rule in role_rules()
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert granted == {*SHOWN, *NOT_SHOWN}
    assert not {verb for verb, _ in granted} & set(READ)


@contextlib.contextmanager
def without(plane: ControlPlane, verb: str, resource: str) -> Iterator[None]:
    """Take one verb on one kind from the operator's Role in one namespace, and put it back."""
    path = f"{RBAC}/namespaces/{SHOP}/roles/{ACCOUNT}"
    rules: list[Json] = plane.api.get(path)["rules"]
    left = []
    for rule in rules:
        names = rule["resources"]
        others = [name for name in names if name != resource]
        verbs = [each for each in rule["verbs"] if each != verb]
        left.append({**rule, "resources": others})
        left.append({**rule, "resources": [resource] if resource in names else [], "verbs": verbs})
    plane.api.patch(path, {"rules": [each for each in left if each["resources"] and each["verbs"]]})
    try:
        yield
    finally:
        plane.api.patch(path, {"rules": rules})


class Tenancy:
    """Holds and owners of one namespace, with names of one round."""

    def __init__(self, plane: ControlPlane, namespace: str, number: int) -> None:
        self._plane = plane
        self._namespace = namespace
        self._number = number
        self._where = {"nodeSelector": {"pool": namespace}}

    def name(self, what: str) -> str:
        return f"{what}-{self._number}"

    def hold(self, *whats: str, once: bool = True) -> None:
        """Make Holds, each for owners of its name; not `once`: larger than one of them."""
        for name in map(self.name, whats):
            at: Json = {"namespace": self._namespace, "template": self._where}
            made = hold(name, cpu="100m" if once else "200m", app=name, allocateOnce=once, **at)
            self._plane.api.create(HOLDS.path(self._namespace), made)

    def headroom(self, what: str) -> None:
        name = self.name(what)
        at: Json = {"namespace": self._namespace, "template": self._where}
        made = headroom(name, cpu="100m", app=name, replicas=1, **at)
        self._plane.api.create(HEADROOMS.path(self._namespace), made)

    def owner(self, what: str, door: str) -> None:
        """Have the owner of a Hold come to a door."""
        name = self.name(what)
        at: Json = {"namespace": self._namespace, door: True, **self._where}
        made = pod(name, cpu="100m", app=name, **at)
        self._plane.api.create(PODS.path(self._namespace), made)

    def is_held(self, what: str) -> bool:
        path = HOLDS.path(self._namespace, self.name(what))
        return bool((self._plane.api.get(path).get("status") or {}).get("phase") == "Available")

    def is_ready(self, what: str) -> bool:
        path = HEADROOMS.path(self._namespace, self.name(what))
        return bool((self._plane.api.get(path).get("status") or {}).get("held") == 1)

    def has_its_hold(self, what: str) -> bool:
        name = self.name(what)
        found = self._plane.api.get(PODS.path(self._namespace, name))
        claimed = (found["metadata"].get("annotations") or {}).get("headroom.dev/claimed")
        runs = (found.get("status") or {}).get("phase") == "Running"
        return runs and claimed == f"Hold/{self._namespace}/{name}"

    def is_told(self, what: str, reason: str) -> bool:
        """Whether an event of that reason is about a pod."""
        about = (self.name(what), reason)
        events = self._plane.api.items(f"/api/v1/namespaces/{self._namespace}/events")
        return about in {(each["involvedObject"]["name"], each["reason"]) for each in events}

    def is_whole(self, what: str) -> bool:
        """Whether no part of a Hold is given away: its guardian stands, its owner has no claim."""
        found = self._plane.api.items(PODS.path(self._namespace))
        owner = next(pod for pod in found if pod["metadata"]["name"] == self.name(what))
        free = "headroom.dev/claimed" not in (owner["metadata"].get("annotations") or {})
        parent = f"Hold/{self._namespace}/{self.name(what)}"
        notes = [pod["metadata"].get("annotations") or {} for pod in found]
        return free and any(each.get("headroom.dev/parent") == parent for each in notes)

    def both_doors(self) -> None:
        """New Holds are held and handed over through both doors."""
        for what, door in (("gate", "gated"), ("latch", "ours")):
            self.hold(what)
            until(f"{self._namespace} holds {what}", partial(self.is_held, what))
            self.owner(what, door)
            until(f"{what} has its hold", partial(self.has_its_hold, what))

    def clear(self) -> None:
        """Take everything away again."""
        for kind in (PODS, HOLDS, HEADROOMS):
            for each in self._plane.api.items(kind.path(self._namespace)):
                with contextlib.suppress(ApiFailure):
                    path = kind.path(self._namespace, each["metadata"]["name"])
                    self._plane.api.delete(path, NOW)


@pytest.mark.parametrize(("verb", "resource"), SHOWN, ids=lambda each: each.replace("/", "-"))
def test_a_right_that_is_taken_away_is_told_and_stops_only_that_namespace(
    plane: ControlPlane, operator: OperatorProcess, verb: str, resource: str
) -> None:
    number, pid = SHOWN.index((verb, resource)), operator.pid
    shop, bank = Tenancy(plane, SHOP, number), Tenancy(plane, BANK, number)
    shop.hold("gate", "latch")
    shop.hold("shared", once=False)
    for what in ("gate", "latch", "shared"):
        until(f"{what} is held", partial(shop.is_held, what))
    with without(plane, verb, resource):
        shop.headroom("slots")
        shop.hold("new")
        shop.owner("gate", "gated")
        shop.owner("latch", "ours")
        shop.owner("shared", "gated")
        kind, _, part = resource.partition("/")
        thing = f"{kind}{'/' if part else ''}{part}"
        until(
            f"it is told that {verb} {resource} is missing",
            lambda: any(
                "forbidden" in line and f'cannot {verb} resource \\"{thing}\\"' in line
                for line in operator.log(2000).splitlines()
            ),
            seconds=60,
        )
        bank.both_doors()
    for what in ("gate", "latch", "shared"):
        until(f"{what} has its hold", partial(shop.has_its_hold, what), seconds=180)
    until("the new hold is held", lambda: shop.is_held("new"), seconds=180)
    until("the headroom has its slot", lambda: shop.is_ready("slots"), seconds=180)
    assert operator.pid == pid, operator.log()
    for each in (shop, bank):
        each.clear()


@contextlib.contextmanager
def gates_closed(plane: ControlPlane) -> Iterator[None]:
    """Somebody's admission policy lets no gate of a pod be removed in one namespace."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["UPDATE"],
        "resources": ["pods"],
    }
    where = {"matchLabels": {"kubernetes.io/metadata.name": SHOP}}
    policy: Json = {
        "metadata": {"name": GATES_CLOSED},
        "spec": {
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": where},
            "validations": [
                {
                    "expression": "!has(oldObject.spec.schedulingGates)"
                    " || has(object.spec.schedulingGates)",
                    "message": GATES_CLOSED,
                }
            ],
        },
    }
    binding: Json = {
        "metadata": {"name": GATES_CLOSED},
        "spec": {"policyName": GATES_CLOSED, "validationActions": ["Deny"]},
    }
    made = ((f"{ADMISSION}policies", policy), (f"{ADMISSION}policybindings", binding))
    for path, body in made:
        plane.api.create(path, body)
    try:
        until("gates stay closed", lambda: not _gate_opens(plane, "probe"), seconds=60)
        yield
    finally:
        for path, _ in made:
            plane.api.delete(f"{path}/{GATES_CLOSED}")


def _gate_opens(plane: ControlPlane, name: str) -> bool:
    """Whether the gate of a new pod can be removed."""
    gated = pod(name, namespace=SHOP, schedulingGates=[{"name": "example.com/wait"}])
    plane.api.create(PODS.path(SHOP), gated)
    try:
        plane.api.patch(PODS.path(SHOP, name), {"spec": {"schedulingGates": None}})
    except ApiFailure as failure:
        return GATES_CLOSED not in str(failure)
    finally:
        plane.api.delete(PODS.path(SHOP, name), NOW)
    return True


def test_a_handover_that_is_forbidden_at_its_end_is_undone(
    plane: ControlPlane, operator: OperatorProcess
) -> None:
    number, whats = len(SHOWN) + 1, ("gate", "shared")
    shop, bank = Tenancy(plane, SHOP, number), Tenancy(plane, BANK, number)
    shop.hold("gate")
    shop.hold("shared", once=False)
    for what in whats:
        until(f"{what} is held", partial(shop.is_held, what))
    with gates_closed(plane):
        for what in whats:
            shop.owner(what, "gated")
        for what in whats:
            until(f"{what} is told", partial(shop.is_told, what, "HandoverForbidden"), seconds=60)
            until(f"{what} is held", partial(shop.is_whole, what), seconds=60)
        bank.both_doors()
    for what in whats:
        until(f"{what} has its hold", partial(shop.has_its_hold, what), seconds=180)
    for each in (shop, bank):
        each.clear()


def test_without_the_right_to_its_lease_the_operator_ends_and_says_so(
    plane: ControlPlane, operator: OperatorProcess
) -> None:
    path = f"{RBAC}/namespaces/{HOME}/roles/{ACCOUNT}"
    rules: list[Json] = plane.api.get(path)["rules"]
    others = [rule for rule in rules if "leases" not in rule["resources"]]
    plane.api.patch(path, {"rules": others})
    try:
        until("the operator has ended", lambda: not operator.alive, seconds=90)
    finally:
        plane.api.patch(path, {"rules": rules})
    assert operator.exit_code == LOST_THE_LEAD
    assert "lost the lead" in operator.log()
    assert "leases" in operator.log(2000)
    operator.stop()
    operator.start()
    Tenancy(plane, SHOP, len(SHOWN)).both_doors()
