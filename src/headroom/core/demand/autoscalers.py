"""HorizontalPodAutoscalers, as far as they announce pods that will be created."""

from __future__ import annotations

from dataclasses import dataclass

from headroom.core.objects import Key


@dataclass(frozen=True, slots=True)
class PodAutoscaler:
    """How many pods an autoscaler wants its target to have now, and at most.

    `kind` and `target` name the workload, which is in the same namespace.
    """

    key: Key
    kind: str
    target: str
    desired: int = 0
    most: int = 0
    uid: str = ""
    version: str = ""
