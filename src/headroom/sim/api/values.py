"""JSON objects as immutable values: reading deep, changing without copying the rest.

Stored objects are plain dicts that nobody may change in place; a change makes new dicts along its
path and shares every other branch. That is what makes 10,000 pods cheap, and why no code in `sim`
ever calls deepcopy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from headroom.core.objects import Node, Pod
from headroom.ports import Thing
from headroom.wire.objects.podsagain import pod_again

Json = Mapping[str, Any]


class Ref(NamedTuple):
    """Which object: kind, namespace (empty for cluster-scoped) and name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return "/".join(part for part in self if part)


class Stored(dict[str, Any]):
    """An object as it is stored, with the core values that were read from it, each once.

    `plain` is how every cluster reads it, `told` how this one does, with its dialects. `before` is
    the version before, until this one is read: what they share is not read twice.
    """

    __slots__ = ("before", "plain", "told")

    plain: Pod | Node | None
    told: Thing | None
    before: Stored | None

    def __init__(self, obj: Json) -> None:
        super().__init__(obj)
        self.plain = None
        self.told = None
        self.before = None

    def again(self) -> Pod | None:
        """A pod as every cluster reads it, if a glance at what changed is enough."""
        before, self.before = self.before, None
        if before is None or not isinstance(before.plain, Pod):
            return None
        return pod_again(before.plain, before, self)

    def __reduce__(self) -> tuple[Any, ...]:  # A copy is an ordinary dict.
        return dict, (dict(self),)


def dig(obj: Any, *path: str | int) -> Any:
    """Read a value deep in an object; None where the path ends early."""
    for step in path:
        if isinstance(obj, dict):
            obj = obj.get(step)
        elif isinstance(step, int) and isinstance(obj, list) and -len(obj) <= step < len(obj):
            obj = obj[step]
        else:
            return None
    return obj


def put(obj: Json | None, value: Any, *path: str) -> dict[str, Any]:
    """Return the object with `value` at `path`; all other branches are shared."""
    changed = dict(obj or {})
    head, *rest = path
    changed[head] = put(changed.get(head), value, *rest) if rest else value
    return changed


def drop(obj: Json, *path: str) -> Json:
    """Return the object without what is at `path`; the very same object if nothing was there."""
    head, *rest = path
    if head not in obj:
        return obj
    changed = dict(obj)
    if not rest:
        del changed[head]
        return changed
    inner = obj[head]
    if not isinstance(inner, Mapping):
        return obj
    pruned = drop(inner, *rest)
    if pruned is inner:
        return obj
    changed[head] = pruned
    return changed


def ref_of(obj: Json) -> Ref:
    meta = obj["metadata"]
    return Ref(obj["kind"], meta.get("namespace", ""), meta.get("name", ""))


def uid_of(obj: Json) -> str:
    return str(obj["metadata"].get("uid", ""))


def controller_of(obj: Json) -> Json | None:
    """The ownerReference of the controller, if the object has one."""
    for reference in obj["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            found: Json = reference
            return found
    return None


def condition_of(obj: Json, name: str) -> Json | None:
    for condition in dig(obj, "status", "conditions") or ():
        if condition.get("type") == name:
            found: Json = condition
            return found
    return None


def with_condition(status: Json | None, condition: Json, now: str) -> dict[str, Any]:
    """Return the status with this condition; its transition time moves only with its status."""
    conditions = list((status or {}).get("conditions") or ())
    for index, old in enumerate(conditions):
        if old.get("type") == condition["type"]:
            same = old.get("status") == condition["status"]
            since = old.get("lastTransitionTime", now) if same else now
            conditions[index] = {**condition, "lastTransitionTime": since}
            break
    else:
        conditions.append({**condition, "lastTransitionTime": now})
    return {**(status or {}), "conditions": conditions}
