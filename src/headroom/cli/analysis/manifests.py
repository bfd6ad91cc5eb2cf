"""The recommended Headroom as a manifest to copy."""

from __future__ import annotations

from datetime import timedelta
from math import ceil
from typing import Any

from headroom.recommend.study import Sizing, Study
from headroom.wire.durations import format_duration
from headroom.wire.kinds import HEADROOMS

SHAPE = {"cpu": "500m", "memory": "512Mi"}
HOURS = 24


def headroom(
    study: Study,
    kind: Sizing,
    named: tuple[str, str],
    labels: dict[str, str],
    shape: dict[str, str],
) -> dict[str, Any]:
    """A Headroom of this kind; `named` is its name and namespace (empty: the context's)."""
    name, namespace = named
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    spec = {
        "slot": {"template": {"resources": {"requests": {**SHAPE, **shape}}}},
        **_size(study, kind),
        "owners": [{"labelSelector": {"matchLabels": labels}}],
    }
    return HEADROOMS.new(metadata, spec=spec)


def _size(study: Study, kind: Sizing) -> dict[str, Any]:
    setting = study.rows[kind].setting
    match kind:
        case Sizing.ADAPTIVE:
            within = format_duration(timedelta(seconds=study.question.start_within))
            promise = {"startWithin": within, "ratio": study.question.promise}
            return {"size": {"adaptive": promise}}
        case Sizing.SCHEDULED:
            windows = _windows([int(slots) for slots in setting], study.question.lead)
            least = min((window["replicas"] for window in windows), default=0)
            return {"size": {"replicas": least}, "schedule": windows}
        case _:
            return {"size": {"replicas": int(setting[0])}}


def _windows(hours: list[int], lead: float) -> list[dict[str, Any]]:
    """One window for each series of hours with the same number; none for hours with zero."""
    windows: list[dict[str, Any]] = []
    begin = 0
    while begin < HOURS:
        end = begin
        while end < HOURS and hours[end] == hours[begin]:
            end += 1
        if hours[begin]:
            windows.append(
                {
                    "start": f"0 {begin} * * *",
                    "duration": f"{end - begin}h",
                    "timeZone": "Etc/UTC",
                    "leadTime": format_duration(timedelta(seconds=ceil(lead))),
                    "replicas": hours[begin],
                }
            )
        begin = end
    return windows
