"""A node whose kubelet forwards ports: kwok's kubelet, to a program on this machine.

Hollow kubelets have no container runtime that streams, so ports cannot be forwarded to their pods.
kwok serves the kubelet's own protocol. `forwarding_node(plane, port, target)` is a node whose pods
answer on `port` with the program that listens on `target` here. The rest of the path is real:
kubectl, the API server, the kubelet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testbed.components import FAKE_NODE_ANNOTATION, LOOPBACK, http_probe
from testbed.controlplane import ControlPlane
from testbed.nodes import create, fake_node
from testbed.processes import Component

NAME = "forwarding"
_STAGES = Path(__file__).with_name("kwok_stages.yaml")
_STREAMS = "enableDebuggingHandlers"  # as a kubelet calls logs, exec and forwarded ports


@contextmanager
def forwarding_node(plane: ControlPlane, port: int, target: int) -> Iterator[str]:
    """Its name, which is also the value of its label `kubernetes.io/hostname`."""
    serving = plane.site.ports.take()
    plane.run(_kubelet(plane, serving, port, target))
    node = fake_node(NAME, {"cpu": "4", "memory": "8Gi", "pods": "20"}, {})
    node["metadata"]["annotations"] = {FAKE_NODE_ANNOTATION: NAME}
    node["spec"] = {"taints": [{"key": NAME, "effect": "NoSchedule"}]}
    node["status"]["daemonEndpoints"] = {"kubeletEndpoint": {"Port": serving}}
    # The API server would look up a host name before it takes the address.
    node["status"]["addresses"] = [{"type": "InternalIP", "address": LOOPBACK}]
    create(plane.api, [node])
    try:
        yield NAME
    finally:
        plane.remove_nodes([NAME])


def _kubelet(plane: ControlPlane, serving: int, port: int, target: int) -> Component:
    site = plane.site
    forward = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ClusterPortForward",
        "metadata": {"name": NAME},
        "spec": {"forwards": [{"ports": [port], "target": {"port": target, "address": LOOPBACK}}]},
    }
    config = site.workdir / "kwok-forwarding.yaml"
    # Of two configurations kwok takes one: the options of ours come on top of the usual ones.
    stages = _STAGES.read_text().replace("options:\n", f"options:\n  {_STREAMS}: true\n", 1)
    config.write_text(f"{stages}\n---\n{json.dumps(forward)}\n")
    flags = [
        f"--kubeconfig={plane.kubeconfig}",
        f"--config={config}",
        f"--manage-nodes-with-annotation-selector={FAKE_NODE_ANNOTATION}={NAME}",
        "--cidr=10.1.0.0/16",
        f"--node-ip={LOOPBACK}",
        f"--node-port={serving}",
        f"--server-address={LOOPBACK}:{serving}",
        f"--tls-cert-file={site.identities.server_certificate_file}",
        f"--tls-private-key-file={site.identities.server_key_file}",
        "-v=WARN",
    ]
    command = [str(site.binaries / "kwok"), *flags]
    return Component(NAME, command, site.log(NAME), http_probe(serving, "/healthz", tls=True))
