"""The dialect `schedulinggate`: room for Mountpoint's helper pods, reserved behind its gate.

There is no kind to serve. One ordinary Headroom in the driver's namespace (`objects`) follows the
gate. This dialect decodes it (`decoder`) so that it serves pods of every namespace, and its
guardians have the names, labels, class and sizes of Mountpoint's driver.
"""

from __future__ import annotations

from functools import partial

from headroom.core.names import GROUP
from headroom.dialects.schedulinggate.decoder import with_driver_names
from headroom.dialects.schedulinggate.names import MARKS, OBJECT_NAME, USUAL, Names
from headroom.dialects.schedulinggate.objects import classes, objects
from headroom.wire.dialect import Dialect
from headroom.wire.rbac import named, rule


def scheduling_gate(names: Names = USUAL) -> Dialect:
    """The dialect, with the namespace and the classes of the installed driver."""
    return Dialect(
        name="schedulinggate",
        decoders={},
        rules=(
            # At its start the operator checks these, and creates the Headroom.
            named("scheduling.k8s.io", ("priorityclasses",), ("get",), names.classes),
            rule(GROUP, ("headrooms",), ("create",)),
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
