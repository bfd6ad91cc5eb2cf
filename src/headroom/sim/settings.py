"""How fast the embedded cluster is: delays, limits and grace periods, each with its reason.

Delays are pairs (shortest, longest), drawn evenly from the seed. Defaults are a healthy cluster of
ordinary size; limits are those that Kubernetes ships with.
"""

from __future__ import annotations

from dataclasses import dataclass

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Settings:
    watch_delay: Bounds = (0.001, 0.004)
    """From a write until a watcher hears of it."""

    write_delay: Bounds = (0.002, 0.008)
    """One request of the operator or the scheduler; the write takes effect somewhere in between."""

    cycle: Bounds = (0.0005, 0.002)
    """One scheduling cycle, from its snapshot to its choice."""

    scheduler_qps: float = 50.0
    """kube-scheduler's client limit; it caps sustained binds. Zero: no limit."""

    scheduler_burst: int = 100

    controller_qps: float = 20.0
    """kube-controller-manager's client limit, for each controller. Zero: no limit."""

    controller_burst: int = 30

    controller_delay: Bounds = (0.005, 0.02)
    """From a change until a controller acts on it."""

    pod_start: Bounds = (0.3, 1.2)
    """From the kubelet's yes until the containers run; images are there already."""

    pod_stop: Bounds = (0.2, 1.0)
    """How long containers take to obey SIGTERM, unless their grace period is shorter."""

    node_grace: float = 40.0
    """Silence after which a node counts as unreachable."""

    flush_after: float = 300.0
    """After this long an unschedulable pod is tried again, whatever happened or not."""
