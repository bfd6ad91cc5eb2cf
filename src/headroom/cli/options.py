"""Options that several commands share, with the same name and meaning everywhere.

These are annotated types: typer reads them from the signatures of the commands. Each option can
also be set by an environment variable, because a Deployment configures an operator this way.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headroom.cli.completion import complete_context, complete_dialect, complete_subject
from headroom.cli.errors import Misuse
from headroom.cli.output import OutputFormat
from headroom.wire.name_rules import image_problem, namespace_problem


def a_namespace(text: str) -> str:
    """Reject a text that cannot be the name of a namespace; empty is allowed."""
    problem = namespace_problem(text) if text else ""
    if problem:
        raise Misuse(f"--namespace {text!r}: {problem}")
    return text


def _a_pause_image(text: str) -> str:
    problem = image_problem(text) if text else ""
    if problem:
        raise Misuse(f"--pause-image {text!r}: {problem}")
    return text


if TYPE_CHECKING:
    from headroom.core.quotas.namespaces import NamespaceLimits as Limits

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
        autocompletion=complete_context,
        envvar="HEADROOM_CONTEXT",
        help="Context of the kubeconfig. [default: its current one]",
    ),
]
Output = Annotated[OutputFormat, typer.Option("--output", "-o", help="How to print the answer.")]
Namespace = Annotated[
    str,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAME",
        callback=a_namespace,
        help="Which namespace. [default: the context's]",
    ),
]
AllNamespaces = Annotated[
    bool, typer.Option("--all-namespaces", "-A", help="Look in all namespaces.")
]
What = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KIND/NAME",
        help="pod/NAME, hold/NAME, headroom/NAME, or of a dialect order/NAME, ticket/NAME, "
        "reservation/NAME, capacitybuffer/NAME; KIND NAME works too.",
        autocompletion=complete_subject,
    ),
]
From = Annotated[
    list[Path] | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Read a simulation's result, a dump or manifests instead of a cluster. Repeatable.",
    ),
]


class Dry(StrEnum):
    """The modes of a dry run, as in kubectl."""

    NONE = "none"
    CLIENT = "client"
    SERVER = "server"


DryRun = Annotated[
    Dry,
    typer.Option(
        "--dry-run",
        metavar="client|server",
        help="client (or no value): print what would be sent. server: let the server check it. "
        "Nothing is changed.",
        show_default=False,
    ),
]
Dialects = Annotated[
    list[str] | None,
    typer.Option(
        "--dialect",
        metavar="NAME",
        autocompletion=complete_dialect,
        envvar="HEADROOM_DIALECT",
        help="Serve another system's manifests too. Repeatable.",
    ),
]
AllowInvalid = Annotated[
    bool,
    typer.Option(
        "--allow-invalid",
        help="Report objects that are invalid or cannot be served, but exit 0.",
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
Namespaces = Annotated[
    str,
    typer.Option(
        "--namespaces",
        metavar="A,B",
        envvar="HEADROOM_NAMESPACES",
        help="Serve only the objects and pods of these namespaces. [default: of all]",
    ),
]
ReservationTaints = Annotated[
    bool,
    typer.Option(
        "--reservation-taints-for-all",
        envvar="HEADROOM_RESERVATION_TAINTS_FOR_ALL",
        help="Let taints of Reservations also keep out pods without a reservation affinity.",
    ),
]
PauseImage = Annotated[
    str,
    typer.Option(
        "--pause-image",
        metavar="IMAGE",
        callback=_a_pause_image,
        envvar="HEADROOM_PAUSE_IMAGE",
        help="The image of guardians, latches and fences. [default: registry.k8s.io/pause:3.10]",
    ),
]
MountpointNames = Annotated[
    str,
    typer.Option(
        "--mountpoint-names",
        metavar="NAMES",
        envvar="HEADROOM_MOUNTPOINT_NAMES",
        help="Namespace and PriorityClasses of Mountpoint's helpers, if they are not the "
        "defaults, such as namespace=s3,headroom-class=low.",
    ),
]
NamespaceLimits = Annotated[
    str,
    typer.Option(
        "--namespace-limits",
        metavar="LIMITS",
        envvar="HEADROOM_NAMESPACE_LIMITS",
        help="What a namespace without its own limits may hold, such as slots=10,cpu=8,locked=no.",
    ),
]


def read_limits(text: str) -> Limits:
    """Parse the limits in a flag; raise Misuse if they are wrong."""
    from headroom.core.quotas.namespaces import FLAG, LimitsError, parse_limits

    try:
        return parse_limits(text)
    except LimitsError as trouble:
        raise Misuse(f"{FLAG}: {trouble}", "as in slots=10,cpu=8,locked=no") from trouble


def read_namespaces(text: str) -> tuple[str, ...]:
    """Parse the namespaces in a flag; raise Misuse if one is invalid."""
    names = tuple(dict.fromkeys(filter(None, (each.strip() for each in text.split(",")))))
    for name in names:
        if problem := namespace_problem(name):
            raise Misuse(f"--namespaces {name!r}: {problem}", "as in shop,billing")
    return names
