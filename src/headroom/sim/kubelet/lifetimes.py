"""How long a simulated pod runs: annotations say what real containers would decide.

`sim.headroom.dev/complete-after: 30s` ends a pod this long after its start, successfully unless
`sim.headroom.dev/complete-as: Failed` is set. Without them a pod runs until it is deleted or a step
of a scenario finishes it. A `preStop` hook that sleeps delays the end of a deleted pod by that
time; other hooks take no time.
"""

from __future__ import annotations

from functools import lru_cache

from headroom.sim.api.values import Json, dig
from headroom.wire.durations import parse_duration

COMPLETE_AFTER = "sim.headroom.dev/complete-after"
COMPLETE_AS = "sim.headroom.dev/complete-as"


def lifetime(pod: Json) -> float | None:
    """How many seconds a pod runs; None without a valid annotation."""
    told = pod["metadata"].get("annotations")
    return _seconds(str(told[COMPLETE_AFTER])) if told and COMPLETE_AFTER in told else None


@lru_cache(maxsize=4096)
def _seconds(text: str) -> float | None:
    try:
        return parse_duration(text).total_seconds()
    except ValueError:
        return None


def sleep_before_stop(pod: Json) -> float:
    """How many seconds the kubelet waits before it stops the containers of a running pod."""
    if dig(pod, "status", "phase") != "Running":
        return 0.0
    asked = (
        dig(container, "lifecycle", "preStop", "sleep", "seconds")
        for container in dig(pod, "spec", "containers") or ()
    )
    return float(max((seconds or 0 for seconds in asked), default=0))


def last_phase(pod: Json) -> str:
    """The last phase of a pod whose time is over."""
    told = pod["metadata"].get("annotations")
    failed = told and COMPLETE_AS in told and told[COMPLETE_AS] == "Failed"
    return "Failed" if failed else "Succeeded"
