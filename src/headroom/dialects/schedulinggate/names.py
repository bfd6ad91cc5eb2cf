"""What Mountpoint's driver calls things: its gate, labels, classes and the volume's attributes."""

from __future__ import annotations

from headroom.core.demand.following import Marks

DRIVER = "s3.csi.aws.com"
GATE = f"{DRIVER}/reserve-headroom-for-mppod"
NAMESPACE = "mount-s3"
OBJECT_NAME = "mountpoint"

DEFAULT_CLASS = "mount-s3-critical"
PREEMPTING_CLASS = "mount-s3-preempting-critical"
HEADROOM_CLASS = "mount-s3-headroom"
CRITICAL = 1_000_000_000
HEADROOM = -1000

MARKS = Marks(
    owner=f"{DRIVER}/headroom-for-workload",
    pod=f"{DRIVER}/headroom-for-pod",
    part=f"{DRIVER}/headroom-for-volume",
    prefix="hr-",
    priority_class=HEADROOM_CLASS,
)

_ATTRIBUTE = "mountpointContainerResources"
REQUESTS = {"cpu": f"{_ATTRIBUTE}RequestsCpu", "memory": f"{_ATTRIBUTE}RequestsMemory"}
LIMITS = {"cpu": f"{_ATTRIBUTE}LimitsCpu", "memory": f"{_ATTRIBUTE}LimitsMemory"}
