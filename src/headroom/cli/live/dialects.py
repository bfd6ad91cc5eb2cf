"""Detect which dialects the operator of a cluster has enabled, from its Deployment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from headroom.cli.dialects import NAMES
from headroom.kube.client import Client
from headroom.kube.errors import KubeError
from headroom.wire.errors import UNREADABLE_JSON
from headroom.wire.installed_kinds import LABELS
from headroom.wire.kinds import DEPLOYMENTS

FLAG, VARIABLE = "--dialect", "HEADROOM_DIALECT"
AHEAD = {"--enable-proactive-scaleup": "proactive", "--enable-proactive-scaleup=true": "proactive"}


async def dialects_on(client: Client) -> tuple[str, ...]:
    """The dialects of every installed operator; empty without the permission to see them."""
    selector = quote(",".join(f"{name}={value}" for name, value in sorted(LABELS.items())))
    try:
        body = await client.get(f"{DEPLOYMENTS.path()}?labelSelector={selector}", "look for us")
        found = msgspec.json.decode(body, type=dict[str, Any])
    except (KubeError, *UNREADABLE_JSON):
        return ()
    items = found.get("items")
    named = [
        name for item in items or () if isinstance(item, Mapping) for name in dialects_of(item)
    ]
    return tuple(dict.fromkeys(name for name in named if name in NAMES))


def dialects_of(deployment: Mapping[str, Any]) -> Iterator[str]:
    """The dialects in the arguments of a Deployment's containers."""
    template = (deployment.get("spec") or {}).get("template") or {}
    for container in (template.get("spec") or {}).get("containers") or ():
        arguments = [str(each) for each in container.get("args") or ()]
        for argument, following in zip(arguments, [*arguments[1:], ""], strict=False):
            name, equals, value = argument.partition("=")
            if name == FLAG:
                yield value if equals else following
            elif argument in AHEAD:
                yield AHEAD[argument]
        for variable in container.get("env") or ():
            if variable.get("name") == VARIABLE:
                yield from str(variable.get("value") or "").split()
