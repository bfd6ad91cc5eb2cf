"""Find the explanation of an object by its noun and name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from headroom.cli.errors import NegativeAnswer
from headroom.cli.nouns import KINDS, dialects_for
from headroom.cli.source import WATCHED, Where, World, look_in
from headroom.cli.views.answers import Explanation
from headroom.cli.views.headrooms import explain_headroom
from headroom.cli.views.holds import explain_hold
from headroom.cli.views.lists import needs
from headroom.cli.views.orders import explain_order
from headroom.cli.views.pods import explain_pod
from headroom.cli.views.tables import key_of
from headroom.core.objects import Key
from headroom.core.policy import Policy
from headroom.wire.kinds import PODS

HOLDS = ("hold", "ticket", "reservation")
HEADROOMS = {
    "headroom": explain_headroom,
    "order": explain_order,
    "capacitybuffer": explain_headroom,
}


class Named(Protocol):
    @property
    def key(self) -> Key: ...


_T = TypeVar("_T", bound=Named)


def look_at(
    subject: tuple[str, str],
    access: tuple[str, str],
    namespace: str,
    files: Sequence[Path] | None,
    dialects: Sequence[str] | None,
) -> Where:
    """What to read to explain an object; its kind must be readable."""
    noun, _ = subject
    asked = PODS if noun == "pod" else needs(noun).kinds[0]
    return Where(
        tuple(files or ()),
        *access,
        kinds=tuple(dict.fromkeys((asked, *WATCHED))),
        dialects=dialects_for(noun, dialects),
        namespace=look_in(access, namespace, files, "default"),
        needed=(asked,),
    )


def explanation_of(
    world: World, subject: tuple[str, str], namespace: str, policy: Policy, node: str = ""
) -> Explanation:
    """Explain one object; raise Answer if it does not exist."""
    noun, name = subject
    if node and node not in {each.name for each in world.nodes}:
        raise NegativeAnswer(f"there is no node {node}", "see: headroom get nodes")
    if noun == "pod" and (pod := _named(world.pods, namespace, name)) is not None:
        return explain_pod(world, pod, policy)
    kind = KINDS[noun]
    if noun in HOLDS:
        holds = [each for each in world.holds if each.parent.kind == kind]
        if (hold := _named(holds, namespace, name)) is not None:
            return explain_hold(world, hold, policy)
    if noun in HEADROOMS:
        headrooms = [each for each in world.headrooms if each.parent.kind == kind]
        if (headroom := _named(headrooms, namespace, name)) is not None:
            return HEADROOMS[noun](world, headroom, policy, node)
    raise NegativeAnswer(
        f"there is no {noun} {name} in namespace {namespace}", "another one? -n NAMESPACE"
    )


def raw_of(world: World, subject: tuple[str, str], namespace: str) -> dict[str, Any]:
    """The object itself, which exists because it was explained."""
    noun, name = subject
    kind = KINDS[noun]
    places = _places(namespace, name)
    return next(
        dict(item) for item in world.raw if item.get("kind") == kind and key_of(item) in places
    )


def _named(things: Iterable[_T], namespace: str, name: str) -> _T | None:
    places = _places(namespace, name)
    return next((thing for thing in things if thing.key in places), None)


def _places(namespace: str, name: str) -> tuple[Key, ...]:
    """Possible keys: also without a namespace, or in a manifest that names none."""
    return Key(namespace, name), Key("", name)
