"""The speed of the embedded cluster: delays, limits and grace periods, each with its reason.

Delays are pairs (shortest, longest); values between them are drawn evenly from the seed. The
defaults are those of a healthy cluster of usual size; limits are the defaults of Kubernetes.
"""

from __future__ import annotations

from dataclasses import dataclass

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Settings:
    watch_delay: Bounds = (0.001, 0.004)
    """From a write until a watcher receives it."""

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
    """From the kubelet's admission until the containers run; images are already on the node."""

    pod_stop: Bounds = (0.2, 1.0)
    """How long containers take to end after SIGTERM, unless their grace period is shorter."""

    node_grace: float = 40.0
    """A node without a status for this time is unreachable."""

    flush_after: float = 300.0
    """An unschedulable pod is retried after this time, even without an event."""
