"""The names of all objects of one kind, for shell completion."""

from __future__ import annotations

from pathlib import Path

from headroom.cli.nouns import dialects_for
from headroom.cli.source import Where, read_world
from headroom.cli.views.lists import KindsToRead, needs, table_of
from headroom.wire.kinds import PODS


def names_of(
    noun: str, namespace: str, access: tuple[str, str], files: tuple[Path, ...] = ()
) -> list[str]:
    """The names of a noun's objects in a namespace (empty: in all), each once."""
    needed = KindsToRead((PODS,)) if noun == "pod" else needs(noun)
    where = Where(
        files,
        *access,
        kinds=needed.kinds,
        dialects=dialects_for(noun, ()),
        namespace=namespace,
        local=needed.local,
        foreign=False,
        needed=needed.kinds[:1],
    )
    world = read_world(where)
    if noun == "pod":
        keys = [pod.key for pod in world.pods]
    else:
        keys = [row.key for row in table_of(world, noun).rows]
    found = {key.name for key in keys if namespace in ("", key.namespace) or not key.namespace}
    return sorted(found)
