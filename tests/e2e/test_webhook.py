"""The webhook on an API server without MutatingAdmissionPolicy: as of Kubernetes 1.35, or older.

It is called on loopback by its URL instead of through a Service; everything else is as installed,
each program with the rights of its own account.
"""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headroom.dialects.korder import KORDER
from headroom.kube.kubeconfig import find_access
from headroom.webhook.certificate_controller import CertificateTimes
from headroom.webhook.certificates import split
from headroom.webhook.keychain import Lifetimes, renewed
from headroom.webhook.process import Webhook, WebhookSettings
from headroom.wire.installed_kinds import REGISTRATIONS, SECRETS
from headroom.wire.kinds import HOLDS, NAMESPACES, PODS
from headroom.wire.manifests import Installation, install_objects
from headroom.wire.webhook import WEBHOOK_NAME, registration
from testbed.api import ApiFailure, Json
from testbed.controlplane import ControlPlane, KubectlFailed
from tests.e2e.attacks.flooding import (
    Writer,
    callers,
    resident_mib,
    slow_header,
    still_open,
    unfinished,
    whole,
)
from tests.e2e.gate_cases import (
    BOTH,
    GATE,
    GATED,
    KEYS,
    LEFT_ALONE,
    OTHERS,
    gates_of,
    pod,
    write_index,
)
from tests.e2e.installing import install, until
from tests.e2e.lookout import Lookout
from tests.e2e.processes import OperatorProcess, WebhookProcess
from tests.stories.things import hold
from tests.stories.things import pod as owner
from tests.versions import has

pytestmark = pytest.mark.e2e
HOME = "headroom-system"
SHOP = "shop"  # the operator keeps its index
BENCH = "bench"  # this test does
ASKS = KORDER.asks
BEFORE_POLICIES = "--emulated-version=1.35"
QUICK = Lifetimes(
    authority=timedelta(minutes=4), serving=timedelta(minutes=1), announced=timedelta(seconds=3)
)
OPTED_IN = {"headroom.dev/claims": "enabled"}


def installed(url: str) -> list[Json]:
    """What `headroom install --no-policy --webhook` brings, called by URL and run by this test."""
    objects = install_objects(Installation("headroom:1", policy=False, webhook=True))
    kept = [each for each in objects if each["kind"] not in ("Deployment", REGISTRATIONS.kind)]
    return [*kept, registration(HOME, ASKS, url)]


@dataclass
class Site:
    """A control plane with an operator and a webhook."""

    plane: ControlPlane
    webhook: WebhookProcess
    account: Path
    port: int

    def gates(self, made: Json, namespace: str = BENCH) -> list[str]:
        """The gates that a new pod would get; nothing is kept."""
        path = f"{PODS.path(namespace)}?dryRun=All"
        return gates_of(self.plane.api.create(path, made))

    def is_gating(self) -> bool:
        return self.gates(pod({"app": "web"})) == [GATE]

    def secret(self) -> dict[str, str]:
        found: dict[str, str] = self.plane.api.get(SECRETS.path(HOME, WEBHOOK_NAME))["data"]
        return found

    def trusted(self) -> list[str]:
        """The authorities that API servers are told of, the one that signs first."""
        hook, _ = self.plane.api.get(REGISTRATIONS.path(name=WEBHOOK_NAME))["webhooks"]
        return list(split(base64.b64decode(hook["clientConfig"]["caBundle"]).decode()))


def in_base64(texts: dict[str, str]) -> dict[str, str]:
    return {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}


class Replica:
    """A webhook in a thread of this process, with certificates that last for moments only."""

    def __init__(self, account: Path, port: int) -> None:
        times = CertificateTimes(period=timedelta(seconds=0.2), lifetimes=QUICK)
        self._settings = WebhookSettings(
            find_access(str(account)), HOME, "127.0.0.1", port, times=times
        )
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._webhook: Webhook | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._webhook = Webhook(self._settings, self._ready.set)
        await self._webhook.run()

    def __enter__(self) -> None:
        self._thread.start()
        assert self._ready.wait(30), "the replica did not get ready"

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._webhook is not None:
            self._loop.call_soon_threadsafe(self._webhook.stop)
        self._thread.join(30)


@pytest.fixture(scope="module")
def site(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    work = tmp_path_factory.mktemp("webhook")
    older = [BEFORE_POLICIES] if has("mutating-policy") else []
    with ControlPlane.start(work / "plane", kwok=True, apiserver_args=older) as plane:
        port = plane.site.ports.take()
        install(plane, installed(f"https://127.0.0.1:{port}"))
        for name in (SHOP, BENCH):
            plane.api.create(NAMESPACES.path(), {"metadata": {"name": name, "labels": OPTED_IN}})
        write_index(plane, BENCH, KEYS, 600)
        plane.add_fake_nodes(2, cpu="4")
        plane.wait_nodes_ready(2)
        account = plane.service_account_kubeconfig(HOME, WEBHOOK_NAME)
        webhook = WebhookProcess(account, work / "webhook.log", port, "--dialect", "korder")
        with OperatorProcess(plane.operator_kubeconfig(), work / "operator.log"), webhook:
            found = Site(plane, webhook, account, port)
            until("the webhook is called", found.is_gating)
            yield found


def test_this_cluster_has_no_admission_policies(site: Site) -> None:
    with pytest.raises(ApiFailure):
        site.plane.api.get("/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies")


def test_an_owner_that_says_nothing_of_us_gets_its_hold(site: Site) -> None:
    api = site.plane.api
    lookout = Lookout(api)
    api.create(HOLDS.path(SHOP), hold("h", cpu=1, namespace=SHOP))
    lookout.until("it is held", lambda now: now.hold_phase("h") == "Available")
    made = owner("quiet", cpu=1, app="web", namespace=SHOP)
    until("its index is read", lambda: site.gates(made, SHOP) == [GATE])
    assert gates_of(api.create(PODS.path(SHOP), made)) == [GATE]
    seen = lookout.until("the owner runs", lambda now: now.phase("quiet") == "Running")
    lookout.close()
    assert seen.pods["quiet"]["metadata"]["annotations"]["headroom.dev/claimed"] == "Hold/shop/h"


@pytest.mark.parametrize("made", GATED)
def test_the_webhook_gates_what_the_policy_gates(site: Site, made: Json) -> None:
    assert site.gates(made) == [GATE]


@pytest.mark.parametrize("made", LEFT_ALONE)
def test_the_webhook_leaves_alone_what_the_policy_leaves_alone(site: Site, made: Json) -> None:
    assert site.gates(made) == []


def test_the_webhook_keeps_gates_of_others_and_adds_ours_once(site: Site) -> None:
    assert site.gates(pod({"app": "web"}, OTHERS)) == ["example.com/wait", GATE]
    assert site.gates(pod({"app": "web"}, BOTH)) == [GATE, "example.com/wait"]


def test_a_namespace_that_did_not_ask_is_untouched(site: Site) -> None:
    write_index(site.plane, "default", KEYS, 600)
    assert site.gates(pod({"app": "web"}), "default") == []


def test_a_dry_run_leaves_nothing_behind(site: Site) -> None:
    made = pod({"app": "web"}, name="rehearsed")
    assert site.gates(made) == [GATE]
    names = [each["metadata"]["name"] for each in site.plane.api.items(PODS.path(BENCH))]
    assert "rehearsed" not in names


def test_a_pod_that_exists_is_never_gated(site: Site) -> None:
    path = f"{PODS.path(BENCH)}/later"
    site.plane.api.create(PODS.path(BENCH), pod({"app": "other"}, name="later"))
    changed = site.plane.api.patch(path, {"metadata": {"labels": {"app": "web"}}})
    assert gates_of(changed) == []
    site.plane.api.delete(path)


def test_a_stale_index_gates_nobody(site: Site) -> None:
    write_index(site.plane, BENCH, KEYS, -1)
    until("the index is stale", lambda: not site.is_gating())
    write_index(site.plane, BENCH, KEYS, 600)
    until("the index is fresh again", site.is_gating)


def test_an_index_that_is_gone_gates_nobody(site: Site) -> None:
    site.plane.kubectl("delete", "claimindex", "--all", "-n", BENCH)
    until("the webhook has noticed", lambda: not site.is_gating())
    write_index(site.plane, BENCH, KEYS, 600)
    until("the index is back", site.is_gating)


def test_a_webhook_that_is_gone_stops_nobody(site: Site) -> None:
    kept = site.secret()
    site.webhook.kill()
    assert not site.is_gating()
    site.webhook.start()
    until("it is called again", site.is_gating)
    assert site.secret() == kept  # It came back with the keys that it had.


def test_a_webhook_that_does_not_answer_stops_nobody(site: Site) -> None:
    site.webhook.pause()
    try:
        assert not site.is_gating()  # After the two seconds that it is given.
    finally:
        site.webhook.resume()
    until("it answers again", site.is_gating)


def test_installing_again_takes_no_keys_and_no_trust_away(site: Site) -> None:
    kept, trusted = site.secret(), site.trusted()
    install(site.plane, installed(f"https://127.0.0.1:{site.port}"))
    assert (site.secret(), site.trusted()) == (kept, trusted)
    assert site.is_gating()


def test_a_pod_that_asks_in_a_dialects_way_is_gated_almost_anywhere(site: Site) -> None:
    asking = pod(annotations={ASKS[0]: "web-0"})
    for namespace in ("default", "kube-public"):
        write_index(site.plane, namespace, (f"asks:{ASKS[0]}",), 600)
    until("the index is read", lambda: site.gates(asking, "default") == [GATE])
    assert site.gates(pod(annotations={ASKS[1]: "web"}), "default") == []
    assert site.gates(pod(), "default") == []
    assert site.gates(asking, "kube-public") == []


@pytest.mark.parametrize(
    ("verb", "thing"),
    [("list", "secrets"), ("get", "secrets/other"), ("create", "secrets"), ("patch", "pods")],
)
def test_the_webhook_may_do_nothing_else(site: Site, verb: str, thing: str) -> None:
    with pytest.raises(KubectlFailed):
        site.plane.kubectl("auth", "can-i", verb, thing, "-n", HOME, kubeconfig=site.account)


def test_authorities_change_while_pods_are_created(site: Site) -> None:
    """Two replicas share keys whose authority has little time left; each call finds its gate."""
    site.webhook.stop()
    nearly_ended = datetime.now(UTC) - QUICK.authority * 3 / 4
    old = renewed(None, ["127.0.0.1"], (), nearly_ended, QUICK)
    site.plane.api.patch(SECRETS.path(HOME, WEBHOOK_NAME), {"data": in_base64(old.to_data())})
    with Replica(site.account, site.port), Replica(site.account, site.plane.site.ports.take()):
        until("it is called", site.is_gating)
        followed: list[bool] = []

        def another_signs() -> bool:
            followed.append(site.is_gating())
            return site.trusted()[:1] not in ([], [old.authority.certificate])

        until("the next authority signs", another_signs)
        followed += [site.is_gating() for _ in range(20)]
    assert old.authority.certificate in site.trusted()  # It is trusted until it ends by itself.
    assert all(followed)
    site.webhook.start()
    until("the usual one is called", site.is_gating)


DEEP = b'{"request": {"object": ' + b"[" * 100_000
LIMIT_MIB = 512  # of the container, as installed
ENOUGH_S = 30.0  # Every limit in time is a few seconds.


@pytest.mark.parametrize(
    ("count", "say"),
    [
        (50, unfinished("/claims", 7 * 2**20)),
        (400, slow_header),
        (400, unfinished("/claims", 60_000)),
        (50, whole("/claims", DEEP)),
    ],
    ids=["unfinished-bodies", "slow-headers", "small-unfinished-bodies", "deep-json"],
)
def test_callers_that_do_not_end_take_neither_memory_nor_places(
    site: Site, count: int, say: Writer
) -> None:
    pid = site.webhook.pid
    assert pid is not None
    with callers(site.port, count, say) as made:
        assert site.is_gating()  # Others are answered meanwhile.
        assert still_open(made, ENOUGH_S) == 0
    assert site.is_gating()
    assert site.webhook.pid == pid
    assert resident_mib(pid, "VmHWM") < LIMIT_MIB / 2
    assert "Traceback" not in site.webhook.log(1000)
