"""Basic validation of every object: names, labels, the containers of a pod.

The same checks run before a run (on files) and during a run (on writes). Messages are those of
Kubernetes where users know them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from headroom.core.holds import Problem
from headroom.core.quantity import QuantityError, milli_of
from headroom.sim.api.values import Json, dig

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_ENDS = "and must start and end with an alphanumeric character (e.g."
_REGEX = "regex used for validation is"
_SUBDOMAIN_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
    f"or '.', {_ENDS} 'example.com', {_REGEX} '{_SUBDOMAIN.pattern}')"
)
_LABEL_WORDS = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    f"{_ENDS} 'my-name',  or '123-abc', {_REGEX} '{_LABEL.pattern}')"
)
_KEY_WORDS = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', "
    f"{_ENDS} 'MyName',  or 'my.name',  or '123-abc', {_REGEX} '{_QUALIFIED.pattern}')"
)
_VALUE_WORDS = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    f"{_ENDS} 'MyValue',  or 'my_value',  or '12345', {_REGEX} '({_QUALIFIED.pattern})?')"
)
_SHORT_NAMES = ("Namespace", "Service")
_WITH_TEMPLATE = ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job")


def problems(obj: Json) -> Iterator[Problem]:
    """Everything that an API server refuses in an object, independent of its schema."""
    kind = str(obj.get("kind"))
    yield from metadata_problems(kind, obj)
    if kind in ("PersistentVolumeClaim", "PersistentVolume"):
        for field in ("storageClassName", "volumeName"):
            name = dig(obj, "spec", field)
            if name:
                yield from _name(str(name), f"spec.{field}", short=False)
    if kind == "Pod":
        yield from _pod(obj.get("spec"), "spec")
    elif kind in _WITH_TEMPLATE:
        template = "spec.template"
        labels = dig(obj, "spec", "template", "metadata", "labels") or {}
        yield from _labels(labels, f"{template}.metadata.labels")
        spec = dig(obj, "spec", "template", "spec")
        yield from _pod(spec, f"{template}.spec")
        yield from _restarting(kind, dig(spec, "restartPolicy"), f"{template}.spec.restartPolicy")


def metadata_problems(kind: str, obj: Json) -> Iterator[Problem]:
    """What an API server refuses in the metadata of an object."""
    meta = obj.get("metadata")
    if not isinstance(meta, dict):
        return
    if meta.get("name"):
        yield from _name(str(meta["name"]), "metadata.name", short=kind in _SHORT_NAMES)
    if meta.get("namespace"):
        yield from _name(str(meta["namespace"]), "metadata.namespace", short=True)
    yield from _labels(meta.get("labels") or {}, "metadata.labels")


def _restarting(kind: str, policy: Any, path: str) -> Iterator[Problem]:
    """Pods of a Job must be able to end; all other pods must not."""
    if kind == "Job":
        if policy in (None, "Always"):
            yield Problem(path, 'Required value: valid values: "OnFailure", "Never"')
    elif policy not in (None, "Always"):
        yield Problem(path, f'Unsupported value: "{policy}": supported values: "Always"')


def _name(name: str, path: str, *, short: bool) -> Iterator[Problem]:
    most, pattern = (63, _LABEL) if short else (253, _SUBDOMAIN)
    if len(name) > most:
        unit = "bytes" if short else "characters"
        yield Problem(path, f'Invalid value: "{name}": must be no more than {most} {unit}')
    elif pattern.fullmatch(name) is None:
        words = _LABEL_WORDS if short else _SUBDOMAIN_WORDS
        yield Problem(path, f'Invalid value: "{name}": {words}')


def _labels(labels: dict[str, Any], path: str) -> Iterator[Problem]:
    for key, value in labels.items():
        for words in _label(str(key), str(value)):
            yield Problem(path, words)


@lru_cache(maxsize=1024)
def _label(key: str, value: str) -> tuple[str, ...]:
    """What is wrong with a label; most pods have the same ones as the pod before."""
    problems = []
    prefix, _, name = key.rpartition("/")
    good = _QUALIFIED.fullmatch(name) is not None and len(name) <= 63
    if not good or (prefix and _SUBDOMAIN.fullmatch(prefix) is None):
        problems.append(f'Invalid value: "{key}": {_KEY_WORDS}')
    if value and (_QUALIFIED.fullmatch(value) is None or len(value) > 63):
        problems.append(f'Invalid value: "{value}": {_VALUE_WORDS}')
    return tuple(problems)


def _gates(spec: Any, path: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, gate in enumerate(dig(spec, "schedulingGates") or ()):
        name = str(dig(gate, "name"))
        if name in seen:
            yield Problem(f"{path}.schedulingGates[{index}]", f'Duplicate value: "{name}"')
        seen.add(name)


def _pod(spec: Any, path: str) -> Iterator[Problem]:
    yield from _gates(spec, path)
    containers = dig(spec, "containers") or []
    if not containers:
        yield Problem(f"{path}.containers", "Required value")
    seen: set[str] = set()
    for field in ("initContainers", "containers"):
        for index, container in enumerate(dig(spec, field) or ()):
            where = f"{path}.{field}[{index}].name"
            name = str(container.get("name") or "")
            if not name:
                yield Problem(where, "Required value")
            elif name in seen:
                yield Problem(where, f'Duplicate value: "{name}"')
            else:
                yield from _name(name, where, short=True)
            seen.add(name)
            yield from _limits(container, f"{path}.{field}[{index}].resources.requests")


def _limits(container: Any, path: str) -> Iterator[Problem]:
    """Requests that are larger than their limits."""
    limits = dig(container, "resources", "limits") or {}
    for resource, asked in (dig(container, "resources", "requests") or {}).items():
        try:
            excess = milli_of(asked) > milli_of(limits.get(resource, asked))
        except QuantityError:
            continue  # The decoder of the pod reports what is wrong.
        if excess:
            words = f"must be less than or equal to {resource} limit of {limits[resource]}"
            yield Problem(path, f'Invalid value: "{asked}": {words}')
