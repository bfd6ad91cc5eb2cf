"""Affinity of a template whose guardian lives in another namespace than the pods it is for.

A term that names no namespace is about the pod's own. So that it still means the namespace of the
template, that is written out, and the guardians that keep room for the same namespace are named
beside it: `scheduling` takes them for pods of it as well (`Pod.rules_namespace`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headroom.core.names import NAMESPACE_LABEL
from headroom.wire.kinds import Json
from headroom.wire.node_pin import mapping_in

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_PARTS = ("podAffinity", "podAntiAffinity")
_TERM = "podAffinityTerm"


def seen_from(lodging: str, home: str, affinity: Mapping[str, Any]) -> Json:
    """Give the affinity of a pod of `home` as a pod in `lodging` has to write it."""
    return {
        name: _rewritten(name, part, lodging, home)
        if name in _PARTS and isinstance(part, Mapping)
        else part
        for name, part in affinity.items()
    }


def _rewritten(name: str, part: Mapping[str, Any], lodging: str, home: str) -> Json:
    rewritten = dict(part)
    if isinstance(part.get(_REQUIRED), list):
        rewritten[_REQUIRED] = [
            term for each in part[_REQUIRED] for term in _terms(name, each, lodging, home)
        ]
    if isinstance(part.get(_PREFERRED), list):
        rewritten[_PREFERRED] = [
            {**each, _TERM: term} if isinstance(each, Mapping) else each
            for each in part[_PREFERRED]
            for term in _terms(name, mapping_in(each).get(_TERM), lodging, home)
        ]
    return rewritten


def _terms(name: str, term: object, lodging: str, home: str) -> Iterator[object]:
    """One term, as one or two: all of several must hold, so only anti-affinity can have two."""
    if not isinstance(term, Mapping):
        yield term
        return
    own = [] if term.get("namespaceSelector") is not None else [home]
    given = term.get("namespaces")
    named = given if given and isinstance(given, list) else own
    if home not in named:
        yield term
    elif name == "podAffinity":
        yield {**term, "namespaces": [*named, lodging]}
    else:
        yield {**term, "namespaces": [*named]}
        if isinstance(term.get("labelSelector"), Mapping):
            guardians = _also(term["labelSelector"], home)
            beside = {key: value for key, value in term.items() if key != "namespaceSelector"}
            yield {**beside, "namespaces": [lodging], "labelSelector": guardians}


def _also(selector: Mapping[str, Any], home: str) -> Json:
    labels = {**mapping_in(selector.get("matchLabels")), NAMESPACE_LABEL: home}
    return {**selector, "matchLabels": labels}
