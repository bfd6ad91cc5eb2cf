"""The names of Mountpoint's driver: its gate, labels, classes and the attributes of volumes.

The namespace of helpers and the PriorityClasses are settings of the driver's chart
(`mountpointPod.namespace`, `.priorityClassName`, `.preemptingPriorityClassName`,
`.headroomPriorityClassName`), so they are settings here too.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from headroom.core.demand.followers import Marks
from headroom.wire.name_rules import namespace_problem

DRIVER = "s3.csi.aws.com"
GATE = f"{DRIVER}/reserve-headroom-for-mppod"
NAMESPACE = "mount-s3"
OBJECT_NAME = "mountpoint"

DEFAULT_CLASS = "mount-s3-critical"
PREEMPTING_CLASS = "mount-s3-preempting-critical"
HEADROOM_CLASS = "mount-s3-headroom"
CRITICAL = 1_000_000_000
HEADROOM = -1000

_ATTRIBUTE = "mountpointContainerResources"
REQUESTS = {"cpu": f"{_ATTRIBUTE}RequestsCpu", "memory": f"{_ATTRIBUTE}RequestsMemory"}
LIMITS = {"cpu": f"{_ATTRIBUTE}LimitsCpu", "memory": f"{_ATTRIBUTE}LimitsMemory"}


class BadNames(ValueError):
    """An invalid text of the driver's names."""


@dataclass(frozen=True, slots=True)
class Names:
    """The namespace of helpers, and the PriorityClasses of helpers and of held room."""

    namespace: str = NAMESPACE
    helper_class: str = DEFAULT_CLASS
    preempting_class: str = PREEMPTING_CLASS
    headroom_class: str = HEADROOM_CLASS

    @property
    def text(self) -> str:
        """The names that differ from the defaults, in the format of the flag."""
        usual = Names()
        found = ((each.name, getattr(self, each.name)) for each in fields(self))
        other = ((name, value) for name, value in found if value != getattr(usual, name))
        return ",".join(f"{name.replace('_', '-')}={value}" for name, value in other)

    @property
    def classes(self) -> tuple[str, str, str]:
        return self.helper_class, self.preempting_class, self.headroom_class

    @property
    def marks(self) -> Marks:
        return Marks(
            owner=f"{DRIVER}/headroom-for-workload",
            pod=f"{DRIVER}/headroom-for-pod",
            part=f"{DRIVER}/headroom-for-volume",
            prefix="hr-",
            priority_class=self.headroom_class,
        )


USUAL = Names()
MARKS = USUAL.marks
KNOWN = tuple(each.name.replace("_", "-") for each in fields(Names))


def read_names(text: str) -> Names:
    """Parse `namespace=s3,headroom-class=low`; BadNames says what is wrong."""
    given: dict[str, str] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        key, _, value = part.partition("=")
        if key not in KNOWN:
            raise BadNames(f"{key!r} is not known; known: {', '.join(KNOWN)}")
        if problem := namespace_problem(value):
            raise BadNames(f"{key}: {problem}")
        given[key.replace("-", "_")] = value
    names = Names(**given)
    if len(set(names.classes)) < len(names.classes):
        raise BadNames("the three PriorityClasses must differ, because their priorities differ")
    return names
