"""The details of a row of the dashboard: the same text that `headroom explain` prints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headroom.cli.errors import NegativeAnswer
from headroom.cli.nouns import KINDS
from headroom.cli.source import World
from headroom.cli.views.answers import as_document
from headroom.cli.views.lookup import explanation_of
from headroom.cli.views.offline_ledger import UNSEEN
from headroom.core.policy import Policy
from headroom.dashboard.document import EVERYTHING, VisibleScope
from headroom.wire.kinds import NODES, PODS

NOT_ASKED = "nodes are not checked one by one on a cluster of this size"
NOUNS = {kind: noun for noun, kind in KINDS.items()}


def explained(
    world: World, reference: str, policy: Policy, scope: VisibleScope
) -> dict[str, Any] | None:
    """Explain `Kind/namespace/name` for a user with these permissions; None if it is missing."""
    kind, _, place = reference.partition("/")
    namespace, _, name = place.partition("/")
    noun = NOUNS.get(kind)
    if noun is None:
        return None
    try:
        told = explanation_of(limited(world, scope), (noun, name), namespace, policy)
    except NegativeAnswer:
        return None
    return as_document(told)


def explained_by_words(
    world: World, reference: str, policy: Policy, scope: VisibleScope
) -> dict[str, Any] | None:
    """The same without checking every node, for clusters where that takes long."""
    unseen = replace(limited(world, scope), unseen=world.unseen | {NODES.plural})
    told = explained(unseen, reference, policy, EVERYTHING)
    if told is None:
        return None
    kind, _, place = reference.partition("/")
    namespace, _, name = place.partition("/")
    where = f" -n {namespace}" if namespace else ""
    return {
        **told,
        "summary": told["summary"].replace(UNSEEN, NOT_ASKED),
        "next": told["next"] or f"headroom explain {NOUNS[kind]}/{name}{where}  checks every node",
    }


def limited(world: World, scope: VisibleScope) -> World:
    """The world as a user with these permissions would have read it."""
    if scope.everything:
        return world
    unseen = world.unseen if scope.nodes else world.unseen | {NODES.plural}
    elsewhere = world.unseen_elsewhere
    if scope.pods is not None:
        elsewhere = elsewhere | {PODS.plural}
    return replace(
        world,
        raw=(),
        nodes=world.nodes if scope.nodes else (),
        pods=tuple(pod for pod in world.pods if scope.sees_pods(pod.key.namespace)),
        holds=tuple(hold for hold in world.holds if scope.sees_objects(hold.key.namespace)),
        headrooms=tuple(
            each for each in world.headrooms if scope.sees_objects(each.parent.namespace)
        ),
        unseen=unseen,
        unseen_elsewhere=elsewhere,
    )
