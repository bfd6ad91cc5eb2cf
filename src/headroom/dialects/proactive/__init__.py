"""The dialect `proactive`: headroom ahead of demand, by the four flags of an Azure proposal.

There is no kind to serve. The flags (`options`) become one ordinary Headroom in the operator's
namespace (`objects`). This dialect decodes it (`decoder`) so that its guardians have the label and
class of the proposal, and pods that workloads are about to create are counted first.
"""

from __future__ import annotations

from typing import Any

from headroom.core.actions import Action
from headroom.core.names import GROUP
from headroom.dialects.proactive.decoder import decode, marked_placeholder
from headroom.dialects.proactive.names import AUTOSCALER_LEASE, OBJECT_NAME, PRIORITY_CLASS
from headroom.dialects.proactive.objects import class_object
from headroom.wire.dialect import Dialect
from headroom.wire.kinds import DEPLOYMENTS, HEADROOMS, JOBS, STATEFUL_SETS
from headroom.wire.writes import Write


def _nothing(action: Action) -> Write | None:
    return None


def _no_definitions() -> list[dict[str, Any]]:
    return []


PROACTIVE = Dialect(
    name="proactive",
    decoders={},
    render=_nothing,
    definitions=_no_definitions,
    rules=(
        {"apiGroups": [GROUP], "resources": ["headrooms"], "verbs": ["create", "patch", "delete"]},
        {
            "apiGroups": ["scheduling.k8s.io"],
            "resources": ["priorityclasses"],
            "verbs": ["get"],
            "resourceNames": [PRIORITY_CLASS],
        },
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["list"],
            "resourceNames": [AUTOSCALER_LEASE],
        },
    ),
    classes=(class_object(),),
    guardian_classes=(PRIORITY_CLASS,),
    headrooms=(("", OBJECT_NAME),),
    reads={HEADROOMS: decode},
    dress_pod=marked_placeholder,
    follows=(DEPLOYMENTS, STATEFUL_SETS, JOBS),
)

__all__ = ["PROACTIVE"]
