"""The flags of the dialect `proactive` on `headroom run`.

They have the names, environment variables and defaults of the original proposal. They are plain
strings, because the dialect itself reports errors in its own terms. `placeholders` creates the
object for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from headroom.cli.errors import Misuse
from headroom.cli.options import known_setting, setting

if TYPE_CHECKING:
    from headroom.dialects.proactive.options import Options

NAME = "proactive"
SWITCH = "--enable-proactive-scaleup"

Enabled = Annotated[
    str | None,
    known_setting(SWITCH, "Keep placeholders ahead of demand. [default: false]", "[true|false]"),
]
PodLimit = Annotated[
    str | None,
    known_setting(
        "--pod-injection-limit", "Real pods and placeholders together. [default: 5000]", "N"
    ),
]
NodeLimit = Annotated[
    str | None,
    known_setting(
        "--node-limit", "Placeholders request no nodes above this number. [default: 15000]", "N"
    ),
]
Threshold = Annotated[
    str | None,
    known_setting(
        "--proactive-scaleup-threshold",
        "The share of the capacity that pods may request before more is added. [default: 0.8]",
        "PART",
    ),
]
ProfileName = Annotated[
    str | None,
    setting(
        "--proactive-scaleup-profile",
        "karpenter (priority -1000) or clusterAutoscaler (-10). [default: karpenter]",
        "NAME",
    ),
]
Requests = Annotated[
    str | None,
    setting(
        "--proactive-scaleup-requests",
        "The requests of one placeholder, as large as the pods that it is for. "
        "[default: cpu=500m,memory=512Mi]",
        "NAME=AMOUNT,…",
    ),
]
NamespaceName = Annotated[
    str | None,
    setting(
        "--proactive-scaleup-namespace",
        "The namespace of the placeholders. [default: the operator's own]",
        "NAME",
    ),
]


Flags = tuple[str | None, str | None, str | None, str | None, str | None, str | None, str | None]
"""The flags as written, in the order of this module; None if a flag was not set."""


def read(flags: Flags, dialects: Iterable[str]) -> Options:
    """Parse the flags, or raise an error; naming the dialect enables it too."""
    from headroom.dialects.proactive.options import BadOption, Texts, read_options

    texts = Texts(*flags)
    if texts.enabled is None and NAME in dialects:
        texts = replace(texts, enabled="true")
    try:
        return read_options(texts)
    except BadOption as error:
        raise Misuse(str(error)) from error


def read_with(flags: Flags, dialects: Sequence[str]) -> tuple[Options, tuple[str, ...]]:
    """The options, and the enabled dialects."""
    options = read(flags, dialects)
    return options, (*dialects, *((NAME,) if options.enabled else ()))
