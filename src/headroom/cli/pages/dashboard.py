"""`headroom dashboard`: forwards a port to the dashboard of the operator in the cluster.

kubectl forwards the port: it supports every login method, and every cluster has a matching kubectl.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Annotated

from headroom.cli.errors import Misuse
from headroom.cli.options import Context, Kubeconfig, a_namespace, option
from headroom.cli.output import put, say
from headroom.errors import HeadroomError

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET = "deployment/headroom-operator"
FORWARDING = re.compile(r"^Forwarding from (127\.0\.0\.1:\d+)")
Home = Annotated[
    str, option("--namespace -n", "The operator's namespace.", "NAME", callback=a_namespace)
]
Port = Annotated[
    int, option("--port", "The port on this machine; 0 is a free one.", min=0, max=65535)
]


class CannotForward(HeadroomError):
    """kubectl could not connect to the operator."""

    exit_code = 3


def dashboard(
    namespace: Home = "headroom-system",
    port: Port = 0,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Open the page of the operator in the cluster, through a forwarded port."""
    from headroom.wire.manifests import METRICS_PORT

    kubectl = shutil.which("kubectl")
    if kubectl is None:
        raise Misuse(
            "kubectl is needed to forward a port, and is not on the PATH",
            "install kubectl; `headroom top -w` shows nodes in the terminal without it",
        )
    where = [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
    where += [f"--context={context}"] if context else []
    ports = f"{port or ''}:{METRICS_PORT}"
    forward([kubectl, *where, "-n", namespace, "port-forward", TARGET, ports], namespace)


def forward(command: Sequence[str], namespace: str) -> None:
    """Run kubectl until Ctrl-C; print the address when it is available."""
    told = False
    why = ""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, bufsize=1) as process:
        try:
            for line in process.stdout or ():
                if (found := FORWARDING.match(line)) and not told:
                    told = True
                    put(f"http://{found[1]}/")
                    sys.stdout.flush()
                    say("open it in a browser; Ctrl-C ends it")
            why = process.stderr.read().strip() if process.stderr else ""
        except KeyboardInterrupt:
            return
        finally:
            process.terminate()
    end = "the forwarded port was closed" if told else "kubectl cannot forward a port"
    raise CannotForward(
        f"{end}: {why or 'it said nothing'}",
        f"is the operator running (kubectl -n {namespace} get pods), and may you forward ports? "
        "the Role headroom-dashboard has the rights (headroom install --dashboard)",
    )
