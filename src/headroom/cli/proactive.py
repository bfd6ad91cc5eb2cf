"""The flags of the dialect `proactive` on `headroom run`.

They have the names, environment variables and defaults of the original proposal. They are plain
strings, because the dialect itself reports errors in its own terms. `placeholders` creates the
object for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from headroom.cli.errors import Misuse

if TYPE_CHECKING:
    from headroom.dialects.proactive.options import Options

NAME = "proactive"
SWITCH = "--enable-proactive-scaleup"

Enabled = Annotated[
    str | None,
    typer.Option(
        SWITCH,
        metavar="[true|false]",
        envvar=["HEADROOM_ENABLE_PROACTIVE_SCALEUP", "ENABLE_PROACTIVE_SCALEUP"],
        help="Keep placeholders ahead of demand. [default: false]",
    ),
]
PodLimit = Annotated[
    str | None,
    typer.Option(
        "--pod-injection-limit",
        metavar="N",
        envvar=["HEADROOM_POD_INJECTION_LIMIT", "POD_INJECTION_LIMIT"],
        help="Real pods and placeholders together. [default: 5000]",
    ),
]
NodeLimit = Annotated[
    str | None,
    typer.Option(
        "--node-limit",
        metavar="N",
        envvar=["HEADROOM_NODE_LIMIT", "NODE_LIMIT"],
        help="Placeholders request no nodes above this number. [default: 15000]",
    ),
]
Threshold = Annotated[
    str | None,
    typer.Option(
        "--proactive-scaleup-threshold",
        metavar="PART",
        envvar=["HEADROOM_PROACTIVE_SCALEUP_THRESHOLD", "PROACTIVE_SCALEUP_THRESHOLD"],
        help="The share of the capacity that pods may request before more is added. [default: 0.8]",
    ),
]
ProfileName = Annotated[
    str | None,
    typer.Option(
        "--proactive-scaleup-profile",
        metavar="NAME",
        envvar="HEADROOM_PROACTIVE_SCALEUP_PROFILE",
        help="karpenter (priority -1000) or clusterAutoscaler (-10). [default: karpenter]",
    ),
]
Requests = Annotated[
    str | None,
    typer.Option(
        "--proactive-scaleup-requests",
        metavar="NAME=AMOUNT,…",
        envvar="HEADROOM_PROACTIVE_SCALEUP_REQUESTS",
        help="The requests of one placeholder, as large as the pods that it is for. "
        "[default: cpu=500m,memory=512Mi]",
    ),
]
NamespaceName = Annotated[
    str | None,
    typer.Option(
        "--proactive-scaleup-namespace",
        metavar="NAME",
        envvar="HEADROOM_PROACTIVE_SCALEUP_NAMESPACE",
        help="The namespace of the placeholders. [default: the operator's own]",
    ),
]


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags as written; None if a flag was not set."""

    enabled: str | None = None
    pod_limit: str | None = None
    node_limit: str | None = None
    threshold: str | None = None
    profile: str | None = None
    requests: str | None = None
    namespace: str | None = None


def read(flags: Flags, dialects: Iterable[str]) -> Options:
    """Parse the flags, or raise an error; naming the dialect enables it too."""
    from headroom.dialects.proactive.options import BadOption, Texts, read_options

    enabled = flags.enabled
    if enabled is None and NAME in dialects:
        enabled = "true"
    texts = Texts(
        enabled,
        flags.pod_limit,
        flags.node_limit,
        flags.threshold,
        flags.profile,
        flags.requests,
        flags.namespace,
    )
    options = read_options(texts)
    if isinstance(options, BadOption):
        raise Misuse(str(options))
    return options


def read_with(flags: Flags, dialects: Sequence[str]) -> tuple[Options, tuple[str, ...]]:
    """The options, and the enabled dialects."""
    options = read(flags, dialects)
    return options, (*dialects, *((NAME,) if options.enabled else ()))
