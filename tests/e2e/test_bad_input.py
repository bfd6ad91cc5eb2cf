"""Bad input on a real control plane: the operator as a process, its cluster's words passed on."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from headroom.wire.kinds import EVENTS, HOLDS, NAMESPACES
from testbed.certs import Authority
from testbed.controlplane import ControlPlane, KubectlFailed
from tests.e2e.installing import until
from tests.stories.things import Json, hold, pod

pytestmark = pytest.mark.e2e
COMMAND = Path(sys.executable).with_name("headroom")
VERBS = [("get", "holds"), ("explain", "pod/x"), ("run",)]
_NUMBERS = count(1)


def headroom(kubeconfig: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command to its end."""
    return subprocess.run(
        [str(COMMAND), *arguments, "--kubeconfig", str(kubeconfig)],
        env={**os.environ, "HEADROOM_DEBUG": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@dataclass
class Operator:
    """A running operator, and every line it has logged."""

    process: subprocess.Popen[str]
    log: list[Json] = field(default_factory=list)

    def read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(json.loads(line))

    def logged(self, event: str, **facts: str) -> list[Json]:
        return [
            line
            for line in self.log
            if line["event"] == event and all(line.get(key) == facts[key] for key in facts)
        ]


@contextlib.contextmanager
def running(kubeconfig: Path) -> Iterator[Operator]:
    command = [str(COMMAND), "run", "--kubeconfig", str(kubeconfig)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        operator = Operator(process)
        reader = Thread(target=operator.read)
        reader.start()
        try:
            yield operator
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
            reader.join()


@pytest.fixture(scope="module")
def plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster of two fake nodes that has never heard of us."""
    with ControlPlane.start(tmp_path_factory.mktemp("bad-input"), kwok=True) as plane:
        plane.wait_nodes_ready(2, names=plane.add_fake_nodes(2))
        yield plane


@pytest.fixture(scope="module")
def operator(plane: ControlPlane) -> Iterator[Operator]:
    """An operator that was started before its kinds were there."""
    with running(plane.kubeconfig) as operator:
        until("it misses its kinds", lambda: bool(operator.logged("watch_trouble")))
        assert operator.process.poll() is None
        asked = headroom(plane.kubeconfig, "get", "holds")
        assert (asked.returncode, asked.stdout) == (0, "")
        assert "the cluster does not serve this kind; install it: headroom crds" in asked.stderr
        plane.kubectl("apply", "--server-side", "-f", "-", input=printed_crds())
        assert operator.process.stdout is not None
        assert operator.process.stdout.readline() == "ready\n"
        yield operator


def printed_crds() -> str:
    done = subprocess.run([str(COMMAND), "crds"], capture_output=True, text=True, check=True)
    return done.stdout


@dataclass(frozen=True)
class Corner:
    """A namespace of the cluster, with a good hold beside whatever is tried in it."""

    plane: ControlPlane
    name: str

    def apply(self, thing: Json) -> None:
        self.plane.kubectl("apply", "-n", self.name, "-f", "-", input=json.dumps(thing))

    def hold(self, name: str, cpu: str = "100m", **spec: Any) -> None:
        self.apply(hold(name, cpu, namespace=self.name, **spec))

    def status(self, name: str) -> Json:
        found: Json = self.plane.api.get(HOLDS.path(self.name, name)).get("status", {})
        return found

    def condition(self, name: str, kind: str = "Degraded") -> Json:
        conditions = self.status(name).get("conditions", [])
        return next((each for each in conditions if each["type"] == kind), {})

    def until_held(self, name: str) -> None:
        until(f"{name} is held", lambda: self.status(name).get("phase") == "Available")

    def until_degraded(self, name: str, reason: str) -> str:
        def degraded() -> bool:
            found = self.condition(name)
            return found.get("status") == "True" and found.get("reason") == reason

        until(f"{name} is degraded by {reason}", degraded)
        return str(self.condition(name)["message"])

    def explain(self, what: str) -> str:
        done = headroom(self.plane.kubeconfig, "explain", what, "-n", self.name)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[0]


@pytest.fixture
def corner(operator: Operator, plane: ControlPlane) -> Iterator[Corner]:
    """A namespace for one test; its good hold is held before, and still after."""
    name = f"corner-{next(_NUMBERS)}"
    plane.api.create(NAMESPACES.path(), {"metadata": {"name": name}})
    corner = Corner(plane, name)
    corner.hold("good")
    corner.until_held("good")
    yield corner
    assert corner.status("good")["phase"] == "Available"
    assert operator.process.poll() is None
    plane.kubectl("delete", "holds,pods", "--all", "-n", name, "--grace-period=0", "--force")


def test_an_operator_started_before_its_kinds_says_so_and_goes_on(operator: Operator) -> None:
    (trouble, *_) = operator.logged("watch_trouble", resource="holds.headroom.dev")
    assert "the cluster does not serve this kind" in trouble["problem"]
    assert "headroom crds | kubectl apply" in trouble["problem"]
    until("it is ready", lambda: bool(operator.logged("ready")))


def test_kubectl_refuses_a_field_that_is_not_there(corner: Corner) -> None:
    with pytest.raises(KubectlFailed, match=r'unknown field "spec.tttl"'):
        corner.hold("bad", tttl="1h")


def test_what_passes_the_schema_and_cannot_be_read_is_named(corner: Corner) -> None:
    corner.hold("poison", expires="2027-01-01T10:00:00+99:00")
    words = corner.until_degraded("poison", "InvalidSpec")
    assert words.startswith("spec.expires: ")
    assert "spec.expires: " in corner.explain("hold/poison")


def test_a_guardian_beyond_the_quota_is_told_in_the_cluster_s_words_and_made_later(
    corner: Corner,
) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "tight"},
        "spec": {"hard": {"requests.cpu": "150m"}},
    }
    corner.apply(quota)
    usage = f"/api/v1/namespaces/{corner.name}/resourcequotas/tight"
    until(
        "the quota is counted",
        lambda: "used" in corner.plane.api.get(usage).get("status", {}),
    )
    corner.hold("refused")
    words = corner.until_degraded("refused", "GuardianRefused")
    assert "exceeded quota: tight, requested: requests.cpu=100m" in words
    assert "exceeded quota: tight" in corner.explain("hold/refused")
    corner.apply({**quota, "spec": {"hard": {"requests.cpu": "1"}}})
    corner.until_held("refused")
    assert corner.condition("refused")["status"] == "False"


def test_a_guardian_beyond_a_limit_range_is_told_in_the_cluster_s_words(corner: Corner) -> None:
    corner.apply(
        {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": {"name": "small"},
            "spec": {"limits": [{"type": "Container", "min": {"cpu": "200m"}}]},
        }
    )
    corner.hold("refused")
    words = corner.until_degraded("refused", "GuardianRefused")
    assert "minimum cpu usage per Container is 200m, but request is 100m" in words


def test_a_restricted_namespace_takes_guardians_but_no_host_ports(corner: Corner) -> None:
    label = {"pod-security.kubernetes.io/enforce": "restricted"}
    corner.plane.api.patch(NAMESPACES.path("", corner.name), {"metadata": {"labels": label}})
    root = {"securityContext": {"runAsUser": 0}, "hostNetwork": True}
    corner.hold("privileged", template=root)
    corner.until_held("privileged")
    port = [{"containerPort": 80, "hostPort": 80}]
    main = {"name": "main", "ports": port, "resources": {"requests": {"cpu": "100m"}}}
    corner.hold("refused", template={"containers": [main]})
    words = corner.until_degraded("refused", "GuardianRefused")
    assert 'violates PodSecurity "restricted:latest"' in words
    assert "hostPort" in words


def test_a_template_that_the_cluster_would_never_take_is_told_in_its_words(corner: Corner) -> None:
    spread = {"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    corner.hold("refused", template={"topologySpreadConstraints": [spread]})
    words = corner.until_degraded("refused", "GuardianRefused")
    assert "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0" in words


def test_explain_says_the_true_reason_on_a_live_cluster(corner: Corner) -> None:
    where = corner.name
    claim = {"headroom.dev/claimed": f"Hold/{where}/good"}
    disk = [{"name": "data", "persistentVolumeClaim": {"claimName": "disk"}}]
    corner.hold("huge", cpu="99")
    corner.hold("nowhere", template={"nodeName": "zurich"})
    corner.apply(pod("liar", "100m", "api", namespace=where, annotations=claim, gated=True))
    corner.apply(pod("volume", "100m", "web", namespace=where, ours=True, volumes=disk))
    corner.apply(pod("big", "99", "api", namespace=where, ours=True))
    told = {each: events_of(corner, each) for each in ("liar", "volume", "big")}
    until("all is told", lambda: all(find() for find in told.values()))
    corner.until_degraded("huge", "Unschedulable")
    assert "0/2 nodes are available: 2 Insufficient cpu" in corner.explain("hold/huge")
    assert "node zurich, which is missing" in corner.explain("hold/nowhere")
    assert 'persistentvolumeclaim "disk" not found' in corner.explain("pod/volume")
    assert "no hold is for it and no node has the room" in corner.explain("pod/big")
    until("the liar runs", lambda: "without a hold" in corner.explain("pod/liar"))
    assert [told[each]()[0]["reason"] for each in sorted(told)] == [
        "Unschedulable",
        "NotMatched",
        "Unschedulable",
    ]


def events_of(corner: Corner, name: str) -> Callable[[], list[Json]]:
    def find() -> list[Json]:
        return [
            event
            for event in corner.plane.api.items(EVENTS.path(corner.name))
            if event["involvedObject"]["name"] == name
            and event["reason"] in ("NotMatched", "Unschedulable")
        ]

    return find


def changed(plane: ControlPlane, folder: Path, change: Callable[[Json], None]) -> Path:
    """The admin's kubeconfig with something wrong in it."""
    config = yaml.safe_load(plane.kubeconfig.read_text())
    change(config)
    file = folder / "changed.kubeconfig"
    file.write_text(yaml.safe_dump(config))
    return file


def token(text: str) -> Callable[[Json], None]:
    def change(config: Json) -> None:
        config["users"][0]["user"] = {"token": text}

    return change


def expired_token() -> str:
    def part(content: Json) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")

    return f"{part({'alg': 'RS256'})}.{part({'exp': 1_600_000_000, 'iss': 'x'})}.c2ln"


def another_authority(config: Json) -> None:
    stranger = base64.b64encode(Authority("stranger").pem.encode()).decode()
    config["clusters"][0]["cluster"]["certificate-authority-data"] = stranger


CREDENTIALS = {
    "token": (token("nonsense"), "does not accept our credentials", "log in again"),
    "expired": (token(expired_token()), "does not accept", "expired at 2020-09-13T12:26:40Z"),
    "authority": (another_authority, "its certificate is not trusted", "certificate-authority"),
}


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
@pytest.mark.parametrize("name", CREDENTIALS)
def test_credentials_that_are_not_accepted_are_told_with_the_way_out(
    plane: ControlPlane, tmp_path: Path, name: str, verb: tuple[str, ...]
) -> None:
    change, says, way_out = CREDENTIALS[name]
    done = headroom(changed(plane, tmp_path, change), *verb)
    assert (done.returncode, done.stdout) == (3, "")
    last = done.stderr.splitlines()[-2:]
    assert says in last[0]
    assert way_out in last[1]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", VERBS[:2], ids=lambda verb: verb[0])
def test_somebody_without_rights_is_told_which_and_where_they_come_from(
    plane: ControlPlane, verb: tuple[str, ...]
) -> None:
    done = headroom(plane.kubeconfig_for("nobody"), *verb)
    assert (done.returncode, done.stdout) == (3, "")
    assert 'User "nobody" cannot list resource' in done.stderr
    assert "headroom install --dry-run" in done.stderr


def test_an_operator_without_rights_names_all_that_are_missing(plane: ControlPlane) -> None:
    plane.kubectl(
        "create", "clusterrole", "sees-nodes", "--verb=get,list,watch", "--resource=nodes"
    )
    plane.kubectl("create", "clusterrolebinding", "ann", "--clusterrole=sees-nodes", "--user=ann")
    done = headroom(plane.kubeconfig_for("ann"), "run")
    assert (done.returncode, done.stdout) == (3, "")
    (missing,) = [line for line in done.stderr.splitlines() if "missing rights: " in line]
    for right in ("list, watch, create, delete, patch pods", "create pods/binding"):
        assert right in missing
    assert "get, update leases.coordination.k8s.io headroom-operator in headroom-system" in missing
    assert "watch nodes" not in missing
    assert "headroom install --dry-run" in done.stderr.splitlines()[-1]


def test_a_port_that_is_taken_is_misuse(plane: ControlPlane) -> None:
    taken = plane.server.removeprefix("https://")
    done = headroom(plane.kubeconfig, "run", "--http", taken)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--http: cannot listen" in done.stderr
    assert "choose another HOST:PORT" in done.stderr
