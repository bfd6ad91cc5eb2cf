"""JSON objects as immutable values: read nested fields, and change them without copying the rest.

Stored objects are plain dicts that no code changes in place. A change creates new dicts along its
path and shares every other branch. So 10,000 pods are cheap, and no code in `sim` calls deepcopy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from headroom.core.objects import Node, Pod
from headroom.ports import Thing
from headroom.wire.objects.podsagain import pod_again

Json = Mapping[str, Any]


class Ref(NamedTuple):
    """The identity of an object: kind, namespace (empty if cluster-scoped) and name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        if self.namespace:
            return f"{self.kind}/{self.namespace}/{self.name}"
        return f"{self.kind}/{self.name}"


class Stored(dict[str, Any]):
    """A stored object with the core values decoded from it, each decoded once.

    `plain` is decoded without dialects, `told` with the dialects of this cluster. `before` is the
    previous version, until this one is decoded: shared parts are not decoded twice.
    """

    __slots__ = ("before", "plain", "ref", "told")

    ref: Ref
    plain: Pod | Node | None
    told: Thing | None
    before: Stored | None

    def __init__(self, obj: Json, ref: Ref) -> None:
        super().__init__(obj)
        self.ref = ref
        self.plain = None
        self.told = None
        self.before = None

    def again(self) -> Pod | None:
        """A pod decoded from its previous version, if only simple parts have changed."""
        before, self.before = self.before, None
        if before is None or not isinstance(before.plain, Pod):
            return None
        return pod_again(before.plain, before, self)

    def __reduce__(self) -> tuple[Any, ...]:  # A copy is an ordinary dict.
        return dict, (dict(self),)


def dig(obj: Any, *path: str | int) -> Any:
    """Read a nested value; None if the path does not exist."""
    for step in path:
        if obj is None:
            return None
        if isinstance(obj, dict):
            obj = obj.get(step)
        elif isinstance(step, int) and isinstance(obj, list) and -len(obj) <= step < len(obj):
            obj = obj[step]
        else:
            return None
    return obj


def put(obj: Json | None, value: Any, *path: str) -> dict[str, Any]:
    """The object with `value` at `path`; all other branches are shared."""
    changed = dict(obj or {})
    head, *rest = path
    changed[head] = put(changed.get(head), value, *rest) if rest else value
    return changed


def drop(obj: Json, *path: str) -> Json:
    """The object without the value at `path`; the same object if there is none."""
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
    if type(obj) is Stored:
        return obj.ref
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


def condition_status(obj: Json | None, name: str) -> str:
    """The status of a condition; empty if the object does not exist or lacks the condition."""
    condition = condition_of(obj, name) if obj is not None else None
    return str((condition or {}).get("status", ""))


def new_condition(kind: str, status: bool | str, reason: str, message: str) -> dict[str, Any]:
    """A condition as the API has it; `status` is a word where neither true nor false is known."""
    word = status if isinstance(status, str) else str(status)
    return {"type": kind, "status": word, "reason": reason, "message": message}


def disrupted(pod: Json, reason: str, message: str, now: str) -> dict[str, Any]:
    """The status of a pod with the condition that says who ends it and why."""
    condition = new_condition("DisruptionTarget", True, reason, message)
    return with_condition(pod.get("status"), condition, now)


def with_condition(status: Json | None, condition: Json, now: str) -> dict[str, Any]:
    """The status with this condition; its transition time changes only if its status changes."""
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
