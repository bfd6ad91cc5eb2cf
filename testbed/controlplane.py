"""A control plane for one test: start, use, disturb and stop it from plain synchronous code.

`ControlPlane.start(directory)` returns when the API server, kube-scheduler and the controller
manager are ready and every requested hollow node accepts pods. `components` has the command lines,
`processes` runs them, `nodes` creates nodes through the API, `identities` has the users. It may be
used from any thread, but from one at a time.
"""

from __future__ import annotations

import atexit
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from testbed import components, nodes
from testbed.api import Api, ApiFailure
from testbed.binaries import provide
from testbed.identities import ADMIN, OPERATOR, Identities
from testbed.kubelets import hollow_kubelet
from testbed.ports import Ports
from testbed.processes import Component
from testbed.scratch import Scratch

_FAST_CLIENT = ("--kube-api-qps=1000", "--kube-api-burst=2000")
_STOP_GRACE_S = 5.0
_READY_S = 120.0


class KubectlFailed(Exception):
    """kubectl failed; the text is its output."""


class ControlPlane:
    """A running control plane; get one from `start`, end it with `stop` or a `with` block."""

    def __init__(self, workdir: Path | None, binaries: Path) -> None:
        self._scratch: Scratch | None = None
        if workdir is None:
            self._scratch = Scratch()
            workdir = self._scratch.path
        self.workdir = workdir.absolute()
        self.binaries = binaries
        self._ports = Ports()
        self._components: dict[str, Component] = {}
        self._hollow_made = 0
        self._fake_made = 0
        self._api_port = self._ports.take()
        self._etcd_port = self._ports.take()
        self.server = f"https://{components.LOOPBACK}:{self._api_port}"
        self.store = f"http://{components.LOOPBACK}:{self._etcd_port}"  # etcd, for benchmarks
        self.identities = Identities(self.workdir / "identities", self.server)
        self.site = components.Site(binaries, self.workdir, self._ports, self.identities)
        self.kubeconfig = self.site.admin_kubeconfig()
        token = self.identities.token(ADMIN)
        self.api = Api(self.server, self.identities.authority_pem, token)

    @classmethod
    def start(
        cls,
        workdir: Path | None = None,
        *,
        hollow_nodes: int = 0,
        kwok: bool = False,
        scheduler: bool = True,
        controller_manager: bool = True,
        apiserver_args: Sequence[str] = (),
        scheduler_args: Sequence[str] = (),
        controller_manager_args: Sequence[str] = (),
        stock_client_limits: bool = False,
        kwok_lease_seconds: int = 40,
    ) -> Self:
        """Start a control plane in a directory of its own (a temporary one if none is given).

        kube-scheduler and the controller manager get client limits that do not bind (1000 requests
        a second); `stock_client_limits` leaves them as shipped (50 and 20). Fake nodes renew their
        leases four times in `kwok_lease_seconds`: raise it for thousands of them, together with
        `--node-monitor-grace-period` of the controller manager.
        """
        binaries = provide()
        limits = () if stock_client_limits else _FAST_CLIENT
        plane = cls(workdir, binaries)
        atexit.register(plane.stop)
        options = components.Options(
            scheduler=scheduler,
            controller_manager=controller_manager,
            kwok=kwok,
            hollow_nodes=hollow_nodes,
            apiserver_args=apiserver_args,
            scheduler_args=(*limits, *scheduler_args),
            controller_manager_args=(*limits, *controller_manager_args),
            kwok_lease_seconds=kwok_lease_seconds,
        )
        try:
            plane._launch(options)
        except BaseException:
            plane.stop()
            raise
        return plane

    def stop(self) -> None:
        """Stop every program, the store last; a temporary directory goes too."""
        atexit.unregister(self.stop)
        self.api.close()
        others = [component for name, component in self._components.items() if name != "etcd"]
        for component in others:
            component.ask_to_stop()
        for component in others:
            component.wait_stopped(_STOP_GRACE_S)
        if "etcd" in self._components:
            self._components["etcd"].stop(_STOP_GRACE_S)
        self._components.clear()
        self._ports.close()
        if self._scratch:
            self._scratch.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # Identities

    def operator_kubeconfig(self) -> Path:
        """Write a kubeconfig with the operator's own identity, which has no rights but by RBAC."""
        return self.identities.token_kubeconfig("operator", self.identities.token(OPERATOR))

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """Write a kubeconfig for any user, named by a client certificate."""
        return self.identities.certificate_kubeconfig(user, groups)

    def service_account_kubeconfig(self, namespace: str, name: str, *, seconds: int = 3600) -> Path:
        """Make a service account (and its namespace); write a kubeconfig with a token of it."""
        accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        self.api.ensure("/api/v1/namespaces", {"metadata": {"name": namespace}})
        self.api.ensure(accounts, {"metadata": {"name": name}})
        request = {"spec": {"expirationSeconds": seconds}}
        token = self.api.create(f"{accounts}/{name}/token", request)["status"]["token"]
        return self.identities.token_kubeconfig(f"{namespace}.{name}", token)

    def kubectl(self, *args: str, input: str | None = None, kubeconfig: Path | None = None) -> str:
        """Run kubectl, as admin unless told otherwise, and return its stdout."""
        environment = {
            **os.environ,
            "KUBECONFIG": str(kubeconfig or self.kubeconfig),
            "KUBECACHEDIR": str(self.workdir / "kubectl-cache"),
        }
        done = subprocess.run(
            [self.binaries / "kubectl", *args],
            input=input,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise KubectlFailed(f"kubectl {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    # Nodes

    def add_hollow_nodes(
        self, count: int, labels: Mapping[str, str] | None = None, *, max_pods: int = 110
    ) -> list[str]:
        """Start hollow kubelets (1 CPU, 3840Mi each) and return their names, ready or not."""
        first = self._hollow_made
        self._hollow_made += count
        names = [f"hollow-{number}" for number in range(first, first + count)]
        for name in names:
            kubelet = hollow_kubelet(self.site, name, labels or {}, max_pods)
            self._components[name] = kubelet
            kubelet.start()
        return names

    def add_fake_nodes(
        self,
        count: int,
        *,
        cpu: str = "4",
        memory: str = "16Gi",
        pods: int = 110,
        labels: Mapping[str, str] | None = None,
        prefix: str = "fake",
    ) -> list[str]:
        """Make nodes that kwok keeps alive and return their names; ready or not."""
        first = self._fake_made
        self._fake_made += count
        names = [f"{prefix}-{number}" for number in range(first, first + count)]
        capacity = {"cpu": cpu, "memory": memory, "pods": str(pods)}
        nodes.create(self.api, (nodes.fake_node(name, capacity, labels or {}) for name in names))
        return names

    def wait_nodes_ready(
        self, count: int, names: Sequence[str] = (), *, timeout_s: float = _READY_S
    ) -> None:
        """Return once `count` nodes (of `names`, if given) take pods."""
        nodes.wait_ready(self.api, count, names, timeout_s)

    def remove_nodes(self, names: Iterable[str]) -> None:
        """Stop the kubelets of these nodes, if they have one, and delete the Node objects."""
        gone = list(names)
        for name in gone:
            if name in self._components:
                self._components.pop(name).stop()
        nodes.remove(self.api, gone)

    # Components

    @property
    def component_names(self) -> tuple[str, ...]:
        """The names of the programs, as the calls below take them."""
        return tuple(self._components)

    def pid(self, component: str) -> int | None:
        """The component's pid while it runs, else None."""
        return self._components[component].pid

    def log(self, component: str) -> Path:
        return self._components[component].log

    def run(self, component: Component) -> None:
        """Start one more program beside the others and wait until it serves."""
        self._components[component.name] = component
        component.start()
        component.wait_ready()

    def restart(self, component: str) -> None:
        """Stop the component, start it again and wait until it is ready."""
        self._components[component].stop()
        self.start_component(component)

    def kill(self, component: str) -> None:
        """End the component at once, as a crash would."""
        self._components[component].kill()

    def stop_component(self, component: str) -> None:
        self._components[component].stop()

    def start_component(self, component: str) -> None:
        """Start a component that was killed or stopped, and wait until it is ready."""
        self._components[component].start()
        self._components[component].wait_ready()

    def pause(self, component: str) -> None:
        """Freeze the component: its connections stay, its answers do not come."""
        self._components[component].pause()

    def resume(self, component: str) -> None:
        self._components[component].resume()

    # How it starts

    def _launch(self, options: components.Options) -> None:
        self.run(components.etcd(self.site, self._etcd_port))
        self.run(
            components.apiserver(
                self.site, self._api_port, self._etcd_port, self._is_served, options.apiserver_args
            )
        )
        clients = components.api_clients(self.site, options)
        for client in clients:
            self._components[client.name] = client
            client.start()
        self.add_hollow_nodes(options.hollow_nodes)
        for client in clients:
            client.wait_ready()
        if options.hollow_nodes:
            self.wait_nodes_ready(options.hollow_nodes)

    def _is_served(self) -> bool:
        """Whether the API is ready and the default namespace exists."""
        try:
            return self.api.is_ready() and bool(self.api.get("/api/v1/namespaces/default"))
        except (ApiFailure, OSError):
            return False
