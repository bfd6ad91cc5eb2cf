"""Options that several verbs share, so that each means and is spelt the same everywhere.

Annotated types only: typer reads them from the verbs' signatures. Each can also be set in the
environment, because that is how a Deployment configures an operator.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headroom.cli.output import Format

Kubeconfig = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        envvar="HEADROOM_KUBECONFIG",
        help="Credentials of the cluster. [default: $KUBECONFIG, then ~/.kube/config]",
    ),
]
Context = Annotated[
    str,
    typer.Option(
        "--context",
        metavar="NAME",
        envvar="HEADROOM_CONTEXT",
        help="Context of the kubeconfig. [default: its current one]",
    ),
]
Output = Annotated[Format, typer.Option("--output", "-o", help="How to print the answer.")]
Namespace = Annotated[
    str,
    typer.Option("--namespace", "-n", metavar="NAME", help="Look in this namespace only."),
]
From = Annotated[
    list[Path] | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Ask a simulation's result, a dump or manifests instead of a cluster. Repeatable.",
    ),
]
Dialects = Annotated[
    list[str] | None,
    typer.Option(
        "--dialect",
        metavar="NAME",
        envvar="HEADROOM_DIALECT",
        help="Serve another system's manifests too. Repeatable.",
    ),
]
AllowInvalid = Annotated[
    bool,
    typer.Option(
        "--allow-invalid",
        help="Tell of objects that are invalid or cannot be served, and exit 0 all the same.",
    ),
]
ClusterPreallocation = Annotated[
    bool,
    typer.Option(
        "--allow-cluster-preallocation",
        envvar="HEADROOM_ALLOW_CLUSTER_PREALLOCATION",
        help="Let a Reservation wait for any pod that is marked for it (mode: Cluster).",
    ),
]
