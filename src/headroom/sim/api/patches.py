"""The patches that the API server supports: JSON merge, strategic merge and JSON patch.

Pure functions from a document and a patch to a new document, which shares all unchanged parts. A
failed `test` operation is distinguished from a malformed patch: it means that another client was
faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from headroom.sim.api.values import Json
from headroom.sim.errors import ApiError, bad_request

TEST_FAILED = "TestFailed"


def merge(target: Any, patch: Any) -> Any:
    """Apply a JSON merge patch (RFC 7386): null removes, objects are merged, others replaced."""
    return _merged(target, patch, {})


_MERGE_KEYS = {
    "conditions": "type",
    "containers": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "schedulingGates": "name",
    "taints": "key",
    "volumes": "name",
}


def strategic_merge(target: Any, patch: Any) -> Any:
    """Apply a strategic merge patch: lists with a merge key are merged item by item.

    Of its directives only `$patch: delete` on an item is modelled.
    """
    return _merged(target, patch, _MERGE_KEYS)


def _merged(target: Any, patch: Any, keys: Mapping[str, str]) -> Any:
    """The target with a patch, in which lists with one of these keys are merged item by item."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, list) and name in keys:
            result[name] = _merge_items(result.get(name) or [], value, keys[name])
        else:
            result[name] = _merged(result.get(name), value, keys)
    return result


def _merge_items(old: list[Any], new: list[Any], key: str) -> list[Any]:
    items = list(old)
    for item in new:
        place = next((i for i, had in enumerate(items) if had.get(key) == item.get(key)), None)
        if item.get("$patch") == "delete":
            if place is not None:
                del items[place]
        elif place is None:
            items.append(item)
        else:
            items[place] = strategic_merge(items[place], item)
    return items


def json_patch(target: Json, operations: Iterable[Json]) -> Json:
    """Apply a JSON patch (RFC 6902; `test`, `add`, `remove` and `replace`)."""
    document: Any = target
    for operation in operations:
        path = _split(str(operation.get("path", "")))
        document = _apply(document, path, operation)
    if not isinstance(document, Mapping):
        raise bad_request("a JSON patch must leave an object")
    return document


def _split(pointer: str) -> list[str]:
    if pointer == "":
        return []
    if not pointer.startswith("/"):
        raise bad_request(f"{pointer!r} is no JSON pointer: it must start with /")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def _apply(document: Any, path: list[str], operation: Json) -> Any:
    verb = operation.get("op")
    if verb == "test":
        if _read(document, path) != operation.get("value"):
            where = operation.get("path")
            raise ApiError(422, TEST_FAILED, f"testing value {where} failed")
        return document
    if verb not in ("add", "remove", "replace"):
        raise bad_request(f"JSON patch operation {verb!r} is not modelled")
    if not path:
        raise bad_request("a JSON patch of the whole document is not modelled")
    return _change(document, path, str(verb), operation.get("value"))


def _read(document: Any, path: list[str]) -> Any:
    for step in path:
        if isinstance(document, Mapping) and step in document:
            document = document[step]
        elif isinstance(document, list) and step.isdigit() and int(step) < len(document):
            document = document[int(step)]
        else:
            return None
    return document


def _change(document: Any, path: list[str], verb: str, value: Any) -> Any:
    head, rest = path[0], path[1:]
    if isinstance(document, list):
        return _change_list(document, head, rest, (verb, value))
    if not isinstance(document, Mapping):
        raise _missing(head)
    changed = dict(document)
    if rest:
        if head not in changed:
            raise _missing(head)
        changed[head] = _change(changed[head], rest, verb, value)
    elif verb == "add":
        changed[head] = value
    elif head not in changed:
        raise _missing(head)
    elif verb == "remove":
        del changed[head]
    else:
        changed[head] = value
    return changed


def _change_list(document: list[Any], head: str, rest: list[str], what: tuple[str, Any]) -> Any:
    verb, value = what
    changed = list(document)
    if head == "-" and verb == "add" and not rest:
        return [*changed, value]
    if not head.isdigit() or int(head) > len(changed) - (verb != "add" or bool(rest)):
        raise _missing(head)
    index = int(head)
    if rest:
        changed[index] = _change(changed[index], rest, verb, value)
    elif verb == "add":
        changed.insert(index, value)
    elif verb == "remove":
        del changed[index]
    else:
        changed[index] = value
    return changed


def _missing(step: str) -> ApiError:
    return ApiError(422, "Invalid", f"the JSON patch names  {step!r}, which does not exist")
