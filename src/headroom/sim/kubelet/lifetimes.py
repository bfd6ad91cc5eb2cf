"""How long a simulated pod runs: what its real containers would decide is told by annotations.

`sim.headroom.dev/complete-after: 30s` ends a pod so long after its start, well unless
`sim.headroom.dev/complete-as: Failed` says otherwise. Without them a pod runs until it is deleted
or a scenario's step finishes it. A `preStop` hook that sleeps keeps a pod for that time when it is
deleted; other hooks take no time.
"""

from __future__ import annotations

from headroom.sim.api.values import Json, dig
from headroom.wire.durations import parse_duration

COMPLETE_AFTER = "sim.headroom.dev/complete-after"
COMPLETE_AS = "sim.headroom.dev/complete-as"


def lifetime(pod: Json) -> float | None:
    """How many seconds a pod runs; None: nobody has said so in words that can be read."""
    text = dig(pod, "metadata", "annotations", COMPLETE_AFTER)
    try:
        return None if text is None else parse_duration(str(text)).total_seconds()
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
    """How a pod ends whose time is over."""
    failed = dig(pod, "metadata", "annotations", COMPLETE_AS) == "Failed"
    return "Failed" if failed else "Succeeded"
