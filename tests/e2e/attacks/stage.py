"""A real cluster to attack: the operator as installed, tenants with their own rights, a bystander.

How to use it, in a file `test_<claim>.py` beside this one:

    from tests.e2e.attacks.stage import Stage, stage_of

    pytestmark = pytest.mark.e2e

    @pytest.fixture(scope="module")
    def stage(attacked_plane, tmp_path_factory):
        with stage_of(attacked_plane, tmp_path_factory, "--dialect", "korder") as stage:
            yield stage

    def test_a_pod_that_asks_for_more_than_there_can_be_hurts_nobody_else(stage: Stage) -> None:
        mallory = stage.tenant("mallory", quota={"pods": "2"})
        with stage.unhurt():
            mallory.create(pod("huge", ...))

`stage.unhurt()` does three things. Before the body it lets the bystander, in a namespace of its
own, hand over holds through both doors, and takes the median time (`usual`). During the body, and
for some rounds after it, the bystander goes on (`meanwhile`). At the end it asserts that the median
meanwhile was within twice the usual one (times below `NOISE_S` are all the same to it), and that
the operator's process is still the one that was there before. Where the attacker writes as fast as
it can, the API server itself gets slow, for pods that have nothing to do with us too: then
`unhurt(beside=…, as_plain=True)` takes the usual time while somebody writes as fast (`beside`), and
allows for as much more as plain pods of the bystander take longer in the same moments.

A tenant is a service account with the role `admin` of its own namespace. `headroom=True` binds
`headroom-edit` there too; without it the tenant has a role over pods and workloads that knows
nothing of us. `quota` is the `hard` of a ResourceQuota. The bystander's holds and owners are on
nodes of their own (label `pool: bystander`), other pods on those of `pool: commons`, unless the
test says `stage_of(..., bystander_pool="commons")`.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from headroom.cli.dialects import NAMES, chosen
from headroom.wire.kinds import HEADROOMS, HOLDS, NAMESPACES, PODS, RESOURCE_QUOTAS, Resource
from headroom.wire.manifests import Installation, install_objects
from testbed.api import Api, ApiFailure, Json
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, until
from tests.e2e.processes import LOST_THE_LEAD, OperatorProcess
from tests.patience import TookTooLong, deadline_after, keep_waiting
from tests.stories.things import hold, pod

HOME = "headroom-system"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
NOW = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
NOISE_S = 1.0
ROUNDS = 3  # of both doors each, before the attack and at least as many during it
ROUND_S = 60.0
POLL_S = 0.02
KINDS: dict[str, Resource] = {
    each.kind: each
    for each in (
        *chosen(NAMES).resources,
        *chosen(NAMES).foreign,
        PODS,
        HOLDS,
        HEADROOMS,
        RESOURCE_QUOTAS,
    )
}


def prepare(plane: ControlPlane) -> None:
    """Install everything, all dialects too, as `headroom install` does; no replica of its own."""
    everything = Installation("example.com/headroom:1", replicas=0, codecs=chosen(NAMES))
    install(plane, install_objects(everything))
    for pool, count in (("commons", 3), ("bystander", 2)):
        plane.add_fake_nodes(count, cpu="8", labels={"pool": pool}, prefix=pool)
    plane.wait_nodes_ready(5)


@dataclass
class Tenant:
    """A namespace and who works in it; every request is made under the tenant's own rights."""

    name: str
    api: Api

    def path(self, thing: Json, name: str = "", subresource: str = "") -> str:
        """Where a thing of this tenant is, by its kind."""
        resource = KINDS[thing["kind"]]
        return resource.path(self.name if resource.namespaced else "", name, subresource)

    def create(self, *things: Json) -> list[Json]:
        """Create things in the tenant's namespace, whatever namespace they name."""
        made = []
        for thing in things:
            metadata = {**thing["metadata"], "namespace": self.name}
            made.append(self.api.create(self.path(thing), {**thing, "metadata": metadata}))
        return made

    def get(self, kind: str, name: str) -> Json:
        return self.api.get(self.path({"kind": kind}, name))

    def delete(self, kind: str, name: str) -> None:
        self.api.delete(self.path({"kind": kind}, name), NOW)

    def condition(self, kind: str, name: str, type_: str = "Ready") -> Json:
        """The condition of that type, or an empty one."""
        status = self.get(kind, name).get("status") or {}
        found = (each for each in status.get("conditions") or () if each["type"] == type_)
        return next(found, {})


@dataclass
class Bystander:
    """Somebody who has nothing to do with the attack: holds made, owners come, both doors timed."""

    tenant: Tenant
    pool: str
    numbers: Iterator[int] = field(default_factory=itertools.count)
    plain: list[float] = field(default_factory=list)  # of each round, if `beside_plain`
    beside_plain: bool = False

    def round(self) -> float:
        """One hold and its owner through each door, in seconds from the hold's birth to the end."""
        begun = time.monotonic()
        for door in ("gated", "ours"):
            self._hand_over(f"by-{door}-{next(self.numbers)}", door)
        ended = time.monotonic()
        if self.beside_plain:
            self._run_plain(f"by-plain-{next(self.numbers)}")
            self.plain.append(time.monotonic() - ended)
        return ended - begun

    def _run_plain(self, name: str) -> None:
        """Run a pod that has nothing to do with us."""
        where = {"nodeSelector": {"pool": self.pool}}
        self.tenant.create(pod(name, cpu="100m", app="plain", **where))
        self._until(f"{name} runs", "Pod", name, _running)
        self.tenant.delete("Pod", name)

    def _hand_over(self, name: str, door: str) -> None:
        where = {"nodeSelector": {"pool": self.pool}}
        self.tenant.create(hold(name, cpu="100m", app=name, template=where))
        self._until(f"hold {name} is available", "Hold", name, _available)
        self.tenant.create(pod(name, cpu="100m", app=name, **{door: True}, **where))
        self._until(f"{name} runs", "Pod", name, _running)
        claimed = self.tenant.get("Pod", name)["metadata"].get("annotations") or {}
        assert claimed.get("headroom.dev/claimed") == f"Hold/{self.tenant.name}/{name}", claimed
        for kind in ("Pod", "Hold"):
            self.tenant.delete(kind, name)

    def _until(self, what: str, kind: str, name: str, true: Any) -> None:
        deadline = deadline_after(ROUND_S)
        while not true(self.tenant.get(kind, name).get("status") or {}):
            keep_waiting(deadline, f"the bystander's {what}")
            time.sleep(POLL_S)


def _available(status: Json) -> bool:
    return bool(status.get("phase") == "Available")


def _running(status: Json) -> bool:
    return bool(status.get("phase") == "Running")


class Meanwhile(threading.Thread):
    """The bystander's rounds, one after another, until enough were made and it is told to end."""

    def __init__(self, bystander: Bystander) -> None:
        super().__init__(daemon=True)
        self._bystander = bystander
        self._over = threading.Event()
        self.times: list[float] = []
        self.trouble: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._over.is_set() or len(self.times) < ROUNDS:
                self.times.append(self._bystander.round())
        except BaseException as trouble:
            self.trouble = trouble
        finally:
            self._bystander.tenant.api.close()

    def tell_to_end(self) -> None:
        self._over.set()

    def end(self) -> None:
        """Wait for the last rounds; what went wrong in them is raised here."""
        self.tell_to_end()
        self.join(4 * ROUNDS * ROUND_S)
        if self.trouble is not None:
            raise self.trouble


@dataclass
class Stage:
    """What a test of an attack has in its hands."""

    plane: ControlPlane
    operator: OperatorProcess
    bystander_pool: str = "bystander"
    tenants: dict[str, Tenant] = field(default_factory=dict)
    times: dict[str, list[float]] = field(default_factory=dict)

    def tenant(
        self,
        name: str,
        *,
        headroom: bool = True,
        quota: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Tenant:
        """Make a namespace and its admin; the client that comes back has only those rights."""
        self.operator.start_if_it_lost_the_lead()
        api = self.plane.api
        if name in self.tenants:  # Of a test that is run a second time.
            name = f"{name}-{len(self.tenants)}"
        api.ensure(NAMESPACES.path(), {"metadata": {"name": name, "labels": dict(labels or {})}})
        if not headroom:
            api.create(f"{RBAC}/namespaces/{name}/roles", _plain_role())
        kinds = [("ClusterRole", "admin"), ("ClusterRole", "headroom-edit")]
        for kind, role in kinds if headroom else [("Role", "plain")]:
            bound = _binding(name, kind, role)
            api.ensure(f"{RBAC}/namespaces/{name}/rolebindings", bound)
        if quota:
            body = {"metadata": {"name": "limits"}, "spec": {"hard": dict(quota)}}
            api.create(RESOURCE_QUOTAS.path(name), body)
            path = RESOURCE_QUOTAS.path(name, "limits")
            until("the quota is counted", lambda: "hard" in (api.get(path).get("status") or {}))
        made = Tenant(name, self._client_of(name))
        until("the tenant's rights are in force", lambda: _may(made))
        self.tenants[name] = made
        return made

    @contextlib.contextmanager
    def unhurt(
        self,
        ratio: float = 2.0,
        beside: contextlib.AbstractContextManager[None] | None = None,
        as_plain: bool = False,
    ) -> Iterator[None]:
        """Assert that the bystander and the operator do not notice what the body does."""
        self.operator.start_if_it_lost_the_lead()
        bystander, pid = self.bystander(), self.operator.pid
        assert pid is not None, f"the operator does not run:\n{self.operator.log()}"
        bystander.beside_plain = as_plain
        bystander.round()  # The first one pays for what is made once.
        with beside or contextlib.nullcontext():
            bystander.plain.clear()
            usual = [bystander.round() for _ in range(ROUNDS)]
        usual_plain = list(bystander.plain)
        bystander.plain.clear()
        going_on = Meanwhile(bystander)
        going_on.start()
        try:
            yield
            going_on.end()
        finally:
            going_on.tell_to_end()
        self.times = {"usual": usual, "meanwhile": going_on.times}
        self.assert_same_process(pid)
        if as_plain:
            self.times |= {"usual_plain": usual_plain, "meanwhile_plain": bystander.plain}
            slower = statistics.median(bystander.plain) / statistics.median(usual_plain)
            ratio *= max(1.0, slower)
        before, after = statistics.median(usual), statistics.median(going_on.times)
        if after > max(ratio * before, NOISE_S):
            told = f"took {after:.2f} s instead of {before:.2f} s: {self.times}"
            raise TookTooLong(f"the bystander's handovers {told}")

    def assert_same_process(self, pid: int) -> None:
        """The operator neither ended nor was started again."""
        if self.operator.exit_code == LOST_THE_LEAD:
            raise TookTooLong(f"the operator's lease was not renewed:\n{self.operator.log()}")
        assert self.operator.pid == pid, (
            f"the operator ended with {self.operator.exit_code}:\n{self.operator.log()}"
        )

    def bystander(self) -> Bystander:
        """The bystander of this stage, made once."""
        name = "bystander"
        tenant = self.tenants.get(name) or self.tenant(name)
        return Bystander(tenant, self.bystander_pool, itertools.count(time.monotonic_ns()))

    def close(self) -> None:
        """Take away the tenants and all that is theirs."""
        for name, tenant in self.tenants.items():
            tenant.api.close()
            for each in self.plane.api.items(PODS.path(name)):  # Some are on nodes that are not.
                with contextlib.suppress(ApiFailure):
                    self.plane.api.delete(PODS.path(name, each["metadata"]["name"]), NOW)
            with contextlib.suppress(ApiFailure):
                self.plane.api.delete(NAMESPACES.path(name=name))
        # Others want their names; one with thousands of objects takes its time.
        until("the tenants are gone", lambda: not self._left(), seconds=300)

    def _left(self) -> set[str]:
        there = self.plane.api.items(NAMESPACES.path())
        return {each["metadata"]["name"] for each in there} & set(self.tenants)

    def _client_of(self, name: str) -> Api:
        accounts = f"/api/v1/namespaces/{name}/serviceaccounts"
        self.plane.api.ensure(accounts, {"metadata": {"name": "tenant"}})
        asked = {"spec": {"expirationSeconds": 7200}}
        token = self.plane.api.create(f"{accounts}/tenant/token", asked)["status"]["token"]
        return Api(self.plane.server, self.plane.identities.authority_pem, token)


@contextlib.contextmanager
def stage_of(
    plane: ControlPlane,
    paths: pytest.TempPathFactory,
    *flags: str,
    bystander_pool: str = "bystander",
) -> Iterator[Stage]:
    """Start the operator under its own account on a prepared plane; end it, and clean up, after."""
    account = plane.service_account_kubeconfig(HOME, "headroom-operator", seconds=7200)
    log = paths.mktemp("operator") / "log"
    with OperatorProcess(account, log, *flags) as operator:
        stage = Stage(plane, operator, bystander_pool)
        try:
            yield stage
        finally:
            stage.close()


def _may(tenant: Tenant) -> bool:
    try:
        tenant.api.get(PODS.path(tenant.name))
    except ApiFailure:
        return False
    return True


def _binding(namespace: str, kind: str, role: str) -> Json:
    subject = {"kind": "ServiceAccount", "name": "tenant", "namespace": namespace}
    group = "rbac.authorization.k8s.io"
    return {
        "metadata": {"name": role},
        "roleRef": {"apiGroup": group, "kind": kind, "name": role},
        "subjects": [subject],
    }


def _plain_role() -> Json:
    core = ["pods", "pods/status", "configmaps", "persistentvolumeclaims", "services"]
    return {
        "metadata": {"name": "plain"},
        "rules": [
            {"apiGroups": [""], "resources": core, "verbs": ["*"]},
            {"apiGroups": ["apps", "batch", "policy"], "resources": ["*"], "verbs": ["*"]},
        ],
    }
