"""Options that several commands share, with the same name and meaning everywhere.

These are annotated types: typer reads them from the signatures of the commands. Each option can
also be set by an environment variable, because a Deployment configures an operator this way.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headroom.cli.completion import complete_context, complete_dialect, complete_subject
from headroom.cli.errors import Misuse
from headroom.cli.output import OutputFormat
from headroom.wire.name_rules import image_problem, namespace_problem


def option(names: str, text: str, metavar: str | None = None, **more: Any) -> Any:
    """An option with these names, separated by spaces, and this help text."""
    return typer.Option(*names.split(), help=text, metavar=metavar, **more)


def setting(names: str, text: str, metavar: str | None = None, **more: Any) -> Any:
    """An option that an environment variable sets too: `HEADROOM_` and its first name."""
    return option(names, text, metavar, envvar=f"HEADROOM_{_variable(names)}", **more)


def known_setting(names: str, text: str, metavar: str) -> Any:
    """A setting whose variable is also known without the prefix, from another program."""
    variable = _variable(names)
    return option(names, text, metavar, envvar=[f"HEADROOM_{variable}", variable])


def _variable(names: str) -> str:
    return names.split()[0].removeprefix("--").replace("-", "_").upper()


def checked(
    flag: str, problem_with: Callable[[str], str], *, needed: bool = False
) -> Callable[[str], str]:
    """The callback of a flag that rejects an invalid text; unless `needed`, empty is allowed."""

    def check(text: str) -> str:
        if (text or needed) and (problem := problem_with(text)):
            raise Misuse(f"{flag} {text!r}: {problem}")
        return text

    return check


a_namespace = checked("--namespace", namespace_problem)


if TYPE_CHECKING:
    from headroom.core.policy import Policy
    from headroom.core.quotas.namespaces import NamespaceLimits as Limits

Kubeconfig = Annotated[
    Path | None,
    setting(
        "--kubeconfig",
        "Credentials of the cluster. [default: $KUBECONFIG, then ~/.kube/config]",
        "FILE",
    ),
]
Context = Annotated[
    str,
    setting(
        "--context",
        "Context of the kubeconfig. [default: its current one]",
        "NAME",
        autocompletion=complete_context,
    ),
]
Output = Annotated[OutputFormat, option("--output -o", "How to print the answer.")]
Namespace = Annotated[
    str,
    option(
        "--namespace -n", "Which namespace. [default: the context's]", "NAME", callback=a_namespace
    ),
]
AllNamespaces = Annotated[bool, option("--all-namespaces -A", "Look in all namespaces.")]
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
    option(
        "--from",
        "Read a simulation's result, a dump or manifests instead of a cluster. Repeatable.",
        "FILE",
    ),
]


class Dry(StrEnum):
    """The modes of a dry run, as in kubectl."""

    NONE = "none"
    CLIENT = "client"
    SERVER = "server"


DryRun = Annotated[
    Dry,
    option(
        "--dry-run",
        "client (or no value): print what would be sent. server: let the server check it. "
        "Nothing is changed.",
        "client|server",
        show_default=False,
    ),
]
Dialects = Annotated[
    list[str] | None,
    setting(
        "--dialect",
        "Serve another system's manifests too. Repeatable.",
        "NAME",
        autocompletion=complete_dialect,
    ),
]
AllowInvalid = Annotated[
    bool,
    option("--allow-invalid", "Report objects that are invalid or cannot be served, but exit 0."),
]
ClusterPreallocation = Annotated[
    bool,
    setting(
        "--allow-cluster-preallocation",
        "Let a Reservation wait for any pod that is marked for it (mode: Cluster).",
    ),
]
Namespaces = Annotated[
    str,
    setting(
        "--namespaces",
        "Serve only the objects and pods of these namespaces. [default: of all]",
        "A,B",
    ),
]
ReservationTaints = Annotated[
    bool,
    setting(
        "--reservation-taints-for-all",
        "Let taints of Reservations also keep out pods without a reservation affinity.",
    ),
]
PauseImage = Annotated[
    str,
    setting(
        "--pause-image",
        "The image of guardians, latches and fences. [default: registry.k8s.io/pause:3.10]",
        "IMAGE",
        callback=checked("--pause-image", image_problem),
    ),
]
MountpointNames = Annotated[
    str,
    setting(
        "--mountpoint-names",
        "Namespace and PriorityClasses of Mountpoint's helpers, if they are not the "
        "defaults, such as namespace=s3,headroom-class=low.",
        "NAMES",
    ),
]
NamespaceLimits = Annotated[
    str,
    setting(
        "--namespace-limits",
        "What a namespace without its own limits may hold, such as slots=10,cpu=8,locked=no.",
        "LIMITS",
    ),
]


def read_limits(text: str) -> Limits:
    """Parse the limits in a flag; raise Misuse if they are wrong."""
    from headroom.core.quotas.namespaces import FLAG, LimitsError, parse_limits

    try:
        return parse_limits(text)
    except LimitsError as trouble:
        raise Misuse(f"{FLAG}: {trouble}", "as in slots=10,cpu=8,locked=no") from trouble


def policy_of(
    across_namespaces: bool, preallocation: bool, taints_for_all: bool, limits: str = ""
) -> Policy:
    """The operator's policy, as far as the flags of several commands decide it."""
    from headroom.core.policy import Policy

    return Policy(
        across_namespaces=across_namespaces,
        cluster_preallocation=preallocation,
        taints_bind_all=taints_for_all,
        namespace_limits=read_limits(limits),
    )


def read_namespaces(text: str) -> tuple[str, ...]:
    """Parse the namespaces in a flag; raise Misuse if one is invalid."""
    names = tuple(dict.fromkeys(filter(None, (each.strip() for each in text.split(",")))))
    for name in names:
        if problem := namespace_problem(name):
            raise Misuse(f"--namespaces {name!r}: {problem}", "as in shop,billing")
    return names
