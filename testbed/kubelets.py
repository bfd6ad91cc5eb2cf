"""Hollow kubelets: the real kubelet with fake containers, from Kubernetes' own kubemark.

Admission, rejection, termination and status are real; each offers 1 CPU and 3840Mi and takes about
75 MB. They are separate from the other components because kubemark leaves files in a fixed place,
which must be cleaned up, and because it serves its (fake, plain HTTP) kubelet API on every address
of the machine.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from testbed.components import Site, http_probe
from testbed.processes import Component

_TMP = Path("/tmp")


@dataclass
class HollowKubelet(Component):
    """A component whose files are removed when it ends."""

    def wait_stopped(self, grace_s: float) -> None:
        super().wait_stopped(grace_s)
        sweep()

    def kill(self) -> None:
        super().kill()
        sweep()


def sweep(tmp: Path = _TMP) -> None:
    """Remove the files of hollow kubelets of this user that no longer run.

    Each has a root directory with a socket and another socket beside it. Both exist under these
    names only while a process listens, so a socket that refuses connections is unused.
    """
    for runtime in tmp.glob("kubelet_remote_*.sock"):
        if _is_dead(runtime):
            runtime.unlink(missing_ok=True)
    for resources in tmp.glob("hollow-kubelet.*/pod-resources/kubelet.sock"):
        if _is_dead(resources):
            shutil.rmtree(resources.parent.parent, ignore_errors=True)


def _is_dead(path: Path) -> bool:
    """Whether the socket is ours and no process listens on it."""
    try:
        if path.stat().st_uid != os.getuid():
            return False
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1.0)
            probe.connect(str(path))
    except ConnectionRefusedError:
        return True
    except OSError:  # Gone meanwhile, or listened on by somebody too busy to answer.
        return False
    return False


def hollow_kubelet(site: Site, name: str, labels: Mapping[str, str], max_pods: int) -> Component:
    """Return the kubelet of a node of this name; it registers itself."""
    port = site.ports.take()
    flags = [
        "--morph=kubelet",
        f"--name={name}",
        f"--kubeconfig={site.admin_kubeconfig()}",
        f"--kubelet-port={port}",
        f"--kubelet-read-only-port={site.ports.take()}",
        f"--max-pods={max_pods}",
        "--use-host-image-service=false",
        # The defaults of 10 and 20 would make status updates the slowest part of many a test.
        "--kube-api-qps=100",
        "--kube-api-burst=200",
    ]
    if labels:
        flags.append("--node-labels=" + ",".join(f"{k}={v}" for k, v in sorted(labels.items())))
    return HollowKubelet(
        name=name,
        command=[str(site.binaries / "kubemark"), *flags],
        log=site.log(name),
        is_ready=http_probe(port, "/healthz", tls=False),
    )
