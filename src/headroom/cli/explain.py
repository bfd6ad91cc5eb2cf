"""`headroom explain`: why a pod waits, or the state of a hold or a headroom, as text and tables."""

from __future__ import annotations

from typing import Annotated

from headroom.cli import options
from headroom.cli.errors import Misuse
from headroom.cli.nouns import EXPLAINED, subject
from headroom.cli.output import OutputFormat, document, put, say

Across = Annotated[
    bool,
    options.setting(
        "--allow-cross-namespace-owners", "Explain as an operator with this flag decides."
    ),
]


Node = Annotated[str, options.option("--node", "For a headroom: explain only this node.", "NODE")]


def explain(
    what: options.What = None,
    namespace: options.Namespace = "",
    output: options.Output = OutputFormat.TABLE,
    node: Node = "",
    source: options.From = None,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = "",
    dialect: options.Dialects = None,
    allow_cross_namespace_owners: Across = False,
    allow_cluster_preallocation: options.ClusterPreallocation = False,
    reservation_taints_for_all: options.ReservationTaints = False,
) -> None:
    """Say why a pod waits, or how a hold or a headroom stands."""
    from headroom.cli.source import read_world
    from headroom.cli.views.answers import as_document
    from headroom.cli.views.lookup import explanation_of, look_at
    from headroom.cli.views.prose import prose

    wanted = subject(what or (), EXPLAINED)
    if node and wanted[0] not in ("headroom", "order", "capacitybuffer"):
        raise Misuse("--node goes with a headroom, an order or a buffer only")
    access = (str(kubeconfig or ""), context)
    where = look_at(wanted, access, namespace, source, dialect)
    policy = options.policy_of(
        allow_cross_namespace_owners, allow_cluster_preallocation, reservation_taints_for_all
    )
    told = explanation_of(read_world(where), wanted, where.namespace, policy, node)
    if output is not OutputFormat.TABLE:
        put(document(as_document(told), output))
        return
    put(prose(told))
    if told.next_step:
        say(f"\nnext: {told.next_step}")
