"""`headroom explain`: why a pod waits, or how a hold stands, in a sentence and two small tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headroom.cli.errors import Answer, Misuse
from headroom.cli.options import Context, From, Kubeconfig, Namespace, Output
from headroom.cli.output import Format, columns, document, put, say

if TYPE_CHECKING:
    from headroom.cli.explaining import Explanation
    from headroom.cli.source import World

Across = Annotated[
    bool,
    typer.Option(
        "--allow-cross-namespace-owners",
        envvar="HEADROOM_ALLOW_CROSS_NAMESPACE_OWNERS",
        help="Judge as an operator that runs with this flag.",
    ),
]


def explain(
    what: Annotated[str, typer.Argument(metavar="pod/NAME|hold/NAME", help="What to explain.")],
    namespace: Namespace = "default",
    output: Output = Format.TABLE,
    source: From = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    allow_cross_namespace_owners: Across = False,
) -> None:
    """Say why a pod waits, or how a hold stands."""
    from headroom.cli.source import Where, read_world
    from headroom.core.policy import Policy

    kind, slash, name = what.partition("/")
    if not slash or not name or kind not in ("pod", "hold"):
        raise Misuse(f"{what!r} is neither pod/NAME nor hold/NAME")
    world = read_world(Where(tuple(source or ()), str(kubeconfig or ""), context))
    policy = Policy(across_namespaces=allow_cross_namespace_owners)
    told = _explanation(world, kind, (namespace, name), policy)
    if output is Format.TABLE:
        _put_prose(told)
    else:
        put(document(_as_document(told), output))


def _explanation(world: World, kind: str, key: tuple[str, str], policy: Any) -> Explanation:
    from headroom.cli.explaining import explain_hold, explain_pod
    from headroom.core.objects import Key

    # A manifest without a namespace lands in "default", as with kubectl.
    wanted = (Key(*key), Key("", key[1])) if key[0] == "default" else (Key(*key),)
    if kind == "pod":
        pod = next((each for each in world.pods if each.key in wanted), None)
        if pod is not None:
            return explain_pod(world, pod, policy)
    else:
        hold = next((each for each in world.holds if each.key in wanted), None)
        if hold is not None:
            return explain_hold(world, hold, policy)
    raise Answer(f"there is no {kind} {key[1]} in namespace {key[0]}", "another one? -n NAMESPACE")


def _put_prose(told: Explanation) -> None:
    from headroom.cli.amounts import shown
    from headroom.core.resources import CPU, MEMORY

    put(told.summary)
    if told.holds:
        rows = [(str(each.hold), each.answer) for each in told.holds]
        put("\n" + columns(("HOLD", "ANSWER"), rows))
    if told.nodes:
        table = [
            (
                each.room.node,
                shown(CPU, each.room.free[CPU]),
                shown(MEMORY, each.room.free[MEMORY]),
                shown(CPU, each.room.held[CPU]),
                each.answer or "fits",
            )
            for each in told.nodes
        ]
        put("\n" + columns(("NODE", "CPU FREE", "MEMORY FREE", "CPU HELD", "ANSWER"), table))
    if told.next_step:
        say(f"\nnext: {told.next_step}")


def _as_document(told: Explanation) -> dict[str, Any]:
    from headroom.core.names import API_VERSION

    return {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "subject": told.subject,
        "summary": told.summary,
        "holds": [
            {"hold": str(each.hold), "gives": each.gives, "answer": each.answer}
            for each in told.holds
        ],
        "nodes": [{"node": each.room.node, "answer": each.answer} for each in told.nodes],
        "next": told.next_step,
    }
