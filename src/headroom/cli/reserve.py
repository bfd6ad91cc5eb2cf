"""`headroom reserve` and `release`: create a Hold from flags, and delete it.

They are for quick use. For a lasting hold use a manifest, which `--dry-run` prints.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from headroom.cli.errors import Misuse, NegativeAnswer, parsed
from headroom.cli.options import Context, Dry, DryRun, Kubeconfig, Namespace, option
from headroom.cli.output import OutputFormat, document, documents, put, say
from headroom.wire.name_rules import name_problem


def _a_name(text: str) -> str:
    problem = name_problem(text)
    if problem:
        raise Misuse(f"{text!r}: {problem}")
    return text


Name = Annotated[str, typer.Argument(callback=_a_name, help="The hold's name.")]
Cpu = Annotated[str, option("--cpu", "CPU to hold, such as 2 or 500m.", "AMOUNT")]
Memory = Annotated[str, option("--memory", "Memory to hold: 4Gi.", "AMOUNT")]
More = Annotated[
    list[str] | None, option("--request", "Another resource. Repeatable.", "NAME=AMOUNT")
]
Labels = Annotated[
    list[str] | None, option("--owner", "A label that owners carry. Repeatable.", "KEY=VALUE")
]
Pods = Annotated[list[str] | None, option("--pod", "A pod that may have it. Repeatable.", "NAME")]
Ttl = Annotated[str, option("--ttl", "How long. [default: 24h; 0: for ever]", "D")]
Selector = Annotated[
    list[str] | None,
    option("--node-selector", "Only on nodes with this label. Repeatable.", "KEY=VALUE"),
]
Tolerations = Annotated[
    list[str] | None,
    option("--toleration", "A taint to tolerate: KEY[=VALUE][:EFFECT]. Repeatable.", "TAINT"),
]
OnNode = Annotated[str, option("--node", "Only on this node.", "NODE")]
Reusable = Annotated[bool, option("--reusable", "For many owners: what one returns is held again.")]


class HoldFormat(StrEnum):
    """The output formats for the hold."""

    NAME = "name"
    JSON = "json"
    YAML = "yaml"


Form = Annotated[
    HoldFormat | None,
    option("--output -o", "Output format of the hold. [default: a sentence about it]"),
]
Wait = Annotated[
    str, option("--wait", "Wait this long until it is held; exit 1 if it is not.", "D")
]


def reserve(
    name: Name,
    cpu: Cpu = "",
    memory: Memory = "",
    request: More = None,
    owner: Labels = None,
    pod: Pods = None,
    ttl: Ttl = "",
    node: OnNode = "",
    node_selector: Selector = None,
    toleration: Tolerations = None,
    reusable: Reusable = False,
    wait: Wait = "",
    namespace: Namespace = "",
    dry_run: DryRun = Dry.NONE,
    output: Form = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Make a Hold: room for the pods that carry these labels, or have these names."""
    from headroom.cli.hold_client import HoldFlags, hold_manifest, made, pairs, tolerations
    from headroom.core.objects import Key
    from headroom.wire.durations import parse_duration

    amounts = {"cpu": cpu, "memory": memory, **pairs(request or (), "--request")}
    asked = HoldFlags(
        Key(namespace or "default", name),
        requests={key: value for key, value in amounts.items() if value},
        labels=pairs(owner or (), "--owner"),
        pods=tuple(pod or ()),
        ttl=ttl,
        node=node,
        node_selector=pairs(node_selector or (), "--node-selector"),
        tolerations=tolerations(toleration or ()),
        reusable=reusable,
    )
    manifest = hold_manifest(asked)
    patience = parsed("--wait", parse_duration, wait).total_seconds() if wait else 0.0
    access = (str(kubeconfig or ""), context)
    namespace = _home(namespace, access, dry_run)
    manifest["metadata"]["namespace"] = namespace
    if dry_run is Dry.CLIENT:
        put(_printed(manifest, output or HoldFormat.YAML))
        return
    stand = made(manifest, access, patience, dry_run is Dry.SERVER)
    if dry_run is Dry.SERVER:
        told = f"hold {name} made (server dry run)"
        put(_printed(stand.item, output) if output else told)
        return
    if patience and stand.phase != "Available":
        why = stand.why or "no operator has processed it"
        raise NegativeAnswer(f"hold {name} is not held: {why}", f"headroom explain hold/{name}")
    told = f"hold {name} is held on {stand.node}" if patience else f"hold {name} made"
    put(_printed(stand.item, output) if output else told)
    say(f"next: headroom explain hold/{name} -n {namespace}")


def _printed(item: dict[str, Any], form: HoldFormat) -> str:
    if form is HoldFormat.NAME:
        return f"hold.headroom.dev/{item['metadata']['name']}"
    return documents([item]) if form is HoldFormat.YAML else document(item, OutputFormat.JSON)


def _home(namespace: str, access: tuple[str, str], dry_run: Dry) -> str:
    """The namespace; printing a manifest needs no kubeconfig."""
    from headroom.cli.source import look_in
    from headroom.kube.errors import ConfigError

    try:
        return look_in(access, namespace, None)
    except ConfigError:
        if dry_run is not Dry.CLIENT or any(access):
            raise
        return "default"


def release(
    name: Name,
    namespace: Namespace = "",
    dry_run: DryRun = Dry.NONE,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Delete a Hold and give its room back; pods that got it keep running."""
    from headroom.cli.hold_client import unmade
    from headroom.core.objects import Key

    access = (str(kubeconfig or ""), context)
    namespace = _home(namespace, access, Dry.NONE)

    if not unmade(Key(namespace, name), access, dry_run.value):
        raise NegativeAnswer(
            f"there is no hold {name} in namespace {namespace}", "see: headroom get holds"
        )
    how = "" if dry_run is Dry.NONE else f" ({dry_run} dry run)"
    put(f"hold {name} released{how}")
