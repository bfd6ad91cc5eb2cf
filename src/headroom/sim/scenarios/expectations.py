"""Check the expectations of a scenario; if one fails, say what was found instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from headroom.core.selection import matches
from headroom.sim.api.values import Json, ref_of
from headroom.sim.scenarios.model import Expect
from headroom.sim.selectors import labels_of, parse_selector

MOST_SHOWN = 5


def unmet(expect: Expect, objects: Iterable[Json]) -> str:
    """How the objects of a kind differ from the expectation; empty if they do not."""
    chosen = [obj for obj in objects if _is_selected(expect, obj)]
    met = [obj for obj in chosen if all(_has(obj, path, want) for path, want in _wants(expect))]
    wanted = "at least 1" if expect.count is None else str(expect.count)
    if (expect.count is None and met) or len(met) == expect.count:
        return ""
    sentence = f"expected {wanted} {_described(expect)}, found {len(met)}"
    others = [obj for obj in chosen if obj not in met]
    if others:
        shown = "; ".join(_shown(obj, expect) for obj in others[:MOST_SHOWN])
        more = f"; and {len(others) - MOST_SHOWN} more" if len(others) > MOST_SHOWN else ""
        return f"{sentence}; there were {shown}{more}"
    return sentence


def _is_selected(expect: Expect, obj: Json) -> bool:
    ref = ref_of(obj)
    return (
        (not expect.namespace or ref.namespace in (expect.namespace, ""))
        and (not expect.name or ref.name == expect.name)
        and (not expect.selector or matches(parse_selector(expect.selector), labels_of(obj)))
    )


def _wants(expect: Expect) -> Iterable[tuple[str, Any]]:
    return sorted(expect.where.items())


def _has(obj: Json, path: str, want: Any) -> bool:
    found = read_path(obj, path)
    return found == want or (want is not None and found is not None and str(found) == str(want))


def read_path(obj: Any, path: str) -> Any:
    """Read `status.conditions[0].type`, or `status.conditions[Ready].status` by a name or type.

    Keys that contain dots are found too (`metadata.labels.app.kubernetes.io/name`).
    """
    if path == "":
        return obj
    if isinstance(obj, Mapping):
        for name in sorted(obj, key=lambda name: (-len(str(name)), str(name))):
            rest = path[len(name) :] if path.startswith(name) else None
            if rest is not None and (rest == "" or rest[0] in ".["):
                return read_path(obj[name], rest.removeprefix("."))
        return None
    if isinstance(obj, list) and path.startswith("["):
        inside, _, rest = path[1:].partition("]")
        return read_path(_item(obj, inside), rest.removeprefix("."))
    return None


def _item(items: list[Any], inside: str) -> Any:
    if inside.isdigit():
        return items[int(inside)] if int(inside) < len(items) else None
    named = (item for item in items if isinstance(item, Mapping))
    return next((item for item in named if inside in (item.get("type"), item.get("name"))), None)


def _described(expect: Expect) -> str:
    words = [expect.kind]
    if expect.name or expect.namespace:
        words.append("/".join(part for part in (expect.namespace, expect.name) if part))
    if expect.selector:
        words.append(f"with {expect.selector}")
    if expect.where:
        words.append("where " + ", ".join(f"{path}={want}" for path, want in _wants(expect)))
    return " ".join(words)


def _shown(obj: Json, expect: Expect) -> str:
    ref = ref_of(obj)
    values = ", ".join(f"{path}={read_path(obj, path)}" for path, _ in _wants(expect))
    return f"{ref.name} ({values})" if values else ref.name
