"""Prepare objects of a real cluster for the simulator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from headroom.sim.api.values import Json, controller_of, dig, put, uid_of
from headroom.sim.controllers.pod_control import REVISION_LABEL
from headroom.sim.controllers.revisions import template_hash
from headroom.wire.times import parse_time

GENERATION_LABEL = "pod-template-generation"
GENERATION_ANNOTATION = "deprecated.daemonset.template.generation"
TIMES = ("lastHeartbeatTime", "lastTransitionTime", "lastUpdateTime")


def newest_time(objects: Iterable[Json]) -> datetime | None:
    """The newest time in objects of a cluster: they were read shortly after it."""
    texts = [text for obj in objects for text in _times(obj)]
    return max(filter(None, map(_parsed, texts)), default=None)


def _times(obj: Json) -> Iterable[Any]:
    yield dig(obj, "metadata", "creationTimestamp")
    conditions = dig(obj, "status", "conditions")
    for condition in conditions if isinstance(conditions, list) else ():
        if isinstance(condition, Mapping):
            yield from (condition.get(name) for name in TIMES)


def _parsed(text: Any) -> datetime | None:
    try:
        return parse_time(text) if isinstance(text, str) else None
    except ValueError:
        return None


def with_our_revisions(objects: tuple[Json, ...]) -> tuple[Json, ...]:
    """Pods of the current revision of their controller, with our hash of its template."""
    sets = {uid_of(obj): obj for obj in objects if obj["kind"] in ("DaemonSet", "StatefulSet")}
    return tuple(_renamed(obj, sets) if obj["kind"] == "Pod" else obj for obj in objects)


def _renamed(pod: Json, sets: Mapping[str, Json]) -> Json:
    of = sets.get(str((controller_of(pod) or {}).get("uid")))
    if of is None or not _is_present(pod, of):
        return pod
    ours = template_hash(dig(of, "spec", "template") or {})
    return put(pod, ours, "metadata", "labels", REVISION_LABEL)


def _is_present(pod: Json, of: Json) -> bool:
    """Whether a pod was created from the current template of its controller."""
    labels = dig(pod, "metadata", "labels") or {}
    if of["kind"] == "StatefulSet":
        newest, revision = dig(of, "status", "updateRevision"), labels.get(REVISION_LABEL)
        return bool(revision) and newest in (revision, f"{of['metadata']['name']}-{revision}")
    generation = (dig(of, "metadata", "annotations") or {}).get(GENERATION_ANNOTATION)
    return generation is not None and labels.get(GENERATION_LABEL) == generation
