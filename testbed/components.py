"""The command lines of a control plane's programs, and their readiness checks.

Pure functions: a `Site` has the files and ports, and each function returns the `Component` to start
there. A comment explains each unusual flag.
"""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.identities import ADMIN, SCHEDULER, Identities
from testbed.ports import Ports
from testbed.processes import Component

LOOPBACK = "127.0.0.1"
FAKE_NODE_ANNOTATION = "kwok.x-k8s.io/node"
_STAGES = Path(__file__).with_name("kwok_stages.yaml")
_PROBE_TIMEOUT_S = 2.0


@dataclass(frozen=True)
class Site:
    """The location of one control plane: its programs, directory, ports and identities."""

    binaries: Path
    workdir: Path
    ports: Ports
    identities: Identities

    def component(
        self, program: str, flags: Sequence[str], is_ready: Callable[[], bool]
    ) -> Component:
        """Return the component that runs the program here, under the program's name."""
        command = [str(self.binaries / program), *flags]
        return Component(program, command, self.log(program), is_ready)

    def log(self, component: str) -> Path:
        logs = self.workdir / "logs"
        logs.mkdir(exist_ok=True)
        return logs / f"{component}.log"

    def admin_kubeconfig(self) -> Path:
        return self.identities.token_kubeconfig("admin", self.identities.token(ADMIN))


@dataclass(frozen=True)
class Options:
    """The parts of a control plane besides etcd and the API server."""

    scheduler: bool
    controller_manager: bool
    kwok: bool
    hollow_nodes: int
    apiserver_args: Sequence[str]
    scheduler_args: Sequence[str]
    controller_manager_args: Sequence[str]
    kwok_lease_seconds: int


def api_clients(site: Site, options: Options) -> list[Component]:
    """Return everything that talks to the API server and is not a kubelet."""
    who, admin = site.identities, site.admin_kubeconfig()
    chosen = []
    if options.scheduler:
        kubeconfig = who.token_kubeconfig("scheduler", who.token(SCHEDULER))
        chosen.append(scheduler(site, kubeconfig, options.scheduler_args))
    if options.controller_manager:
        chosen.append(controller_manager(site, admin, options.controller_manager_args))
    if options.kwok:
        chosen.append(kwok(site, admin, options.kwok_lease_seconds))
    return chosen


def etcd(site: Site, client_port: int) -> Component:
    """The store. It never waits for the disk, because its data is not needed after a power cut."""
    client = f"http://{LOOPBACK}:{client_port}"
    peer = f"http://{LOOPBACK}:{site.ports.take()}"
    flags = [
        f"--data-dir={site.workdir / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]
    return site.component("etcd", flags, http_probe(client_port, "/health", tls=False))


def apiserver(
    site: Site, port: int, etcd_port: int, is_ready: Callable[[], bool], extra: Sequence[str]
) -> Component:
    who = site.identities
    flags = [
        f"--etcd-servers=http://{LOOPBACK}:{etcd_port}",
        f"--bind-address={LOOPBACK}",
        # Unset, it is looked up from the default route, which a machine need not have.
        f"--advertise-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--tls-cert-file={who.server_certificate_file}",
        f"--tls-private-key-file={who.server_key_file}",
        f"--client-ca-file={who.authority_file}",
        f"--token-auth-file={who.tokens_file}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={who.account_key_file}",
        f"--service-account-signing-key-file={who.account_key_file}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--allow-privileged=true",
        # Otherwise every pod waits for its namespace's default account.
        "--disable-admission-plugins=ServiceAccount",
        "--endpoint-reconciler-type=none",
        *extra,
    ]
    return site.component("kube-apiserver", flags, is_ready)


def scheduler(site: Site, kubeconfig: Path, extra: Sequence[str]) -> Component:
    port = site.ports.take()
    flags = [f"--kubeconfig={kubeconfig}", *_serving_flags(port), *extra]
    return site.component("kube-scheduler", flags, http_probe(port, "/readyz"))


def controller_manager(site: Site, kubeconfig: Path, extra: Sequence[str]) -> Component:
    port = site.ports.take()
    flags = [
        f"--kubeconfig={kubeconfig}",
        *_serving_flags(port),
        f"--service-account-private-key-file={site.identities.account_key_file}",
        f"--root-ca-file={site.identities.authority_file}",
        # The last one would only write an annotation onto each node, which costs thousands of them.
        "--controllers=*,-nodeipam,-ttl",
        # The default of 5 s keeps fresh nodes tainted as not ready for that long.
        "--node-monitor-period=1s",
        *extra,
    ]
    return site.component("kube-controller-manager", flags, http_probe(port, "/healthz"))


def kwok(site: Site, kubeconfig: Path, lease_seconds: int) -> Component:
    """The kubelet of every fake node."""
    port = site.ports.take()
    flags = [
        f"--kubeconfig={kubeconfig}",
        f"--config={_STAGES}",
        f"--manage-nodes-with-annotation-selector={FAKE_NODE_ANNOTATION}=fake",
        f"--node-lease-duration-seconds={lease_seconds}",
        "--cidr=10.0.0.0/16",
        f"--node-ip={LOOPBACK}",
        f"--server-address={LOOPBACK}:{port}",
        "-v=WARN",
    ]
    return site.component("kwok", flags, http_probe(port, "/healthz", tls=False))


def http_probe(port: int, path: str, *, tls: bool = True) -> Callable[[], bool]:
    """Return a check that asks the path on loopback and says yes to status 200 only."""

    def probe() -> bool:
        connection = (
            http.client.HTTPSConnection(
                LOOPBACK, port, timeout=_PROBE_TIMEOUT_S, context=_any_certificate()
            )
            if tls
            else http.client.HTTPConnection(LOOPBACK, port, timeout=_PROBE_TIMEOUT_S)
        )
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    return probe


def _any_certificate() -> ssl.SSLContext:
    """Accept any certificate: components create their own certificates when they start."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _serving_flags(port: int) -> list[str]:
    return [
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        "--leader-elect=false",
        # Benchmarks read metrics; on loopback nobody needs to be kept from them.
        "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
    ]
