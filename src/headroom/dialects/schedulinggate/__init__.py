"""The dialect `schedulinggate`: room for Mountpoint's helper pods, reserved behind its gate.

There is no kind to serve. One ordinary Headroom in the driver's namespace (`objects`) follows the
gate. This dialect decodes it (`decoder`) so that it serves pods of every namespace, and its
guardians have the names, labels, class and sizes of Mountpoint's driver.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from headroom.core.actions import Action
from headroom.core.names import GROUP
from headroom.dialects.schedulinggate.decoder import with_driver_names
from headroom.dialects.schedulinggate.names import MARKS, OBJECT_NAME, USUAL, Names
from headroom.dialects.schedulinggate.objects import classes, objects
from headroom.wire.dialect import Dialect
from headroom.wire.writes import Write


def _nothing(action: Action) -> Write | None:
    return None


def _no_definitions() -> list[dict[str, Any]]:
    return []


def scheduling_gate(names: Names = USUAL) -> Dialect:
    """The dialect, with the namespace and the classes of the installed driver."""
    return Dialect(
        name="schedulinggate",
        decoders={},
        render=_nothing,
        definitions=_no_definitions,
        rules=(
            # At its start the operator checks these, and creates the Headroom.
            {
                "apiGroups": ["scheduling.k8s.io"],
                "resources": ["priorityclasses"],
                "verbs": ["get"],
                "resourceNames": [*names.classes],
            },
            {"apiGroups": [GROUP], "resources": ["headrooms"], "verbs": ["create"]},
        ),
        classes=classes(names),
        guardian_classes=(names.headroom_class,),
        owner_labels=(MARKS.owner,),
        headrooms=((names.namespace, OBJECT_NAME),),
        objects=objects(names),
        flags=(f"--mountpoint-names={names.text}",) if names.text else (),
        dress=partial(with_driver_names, names=names),
    )


SCHEDULING_GATE = scheduling_gate()

__all__ = ["SCHEDULING_GATE", "scheduling_gate"]
