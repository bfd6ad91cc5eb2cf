"""The dialect `proactive`: headroom ahead of demand, by the four flags of an Azure proposal.

There is no kind to serve. The flags (`options`) become one ordinary Headroom in the operator's
namespace (`objects`). This dialect decodes it (`decoder`) so that its guardians have the label and
class of the proposal, and pods that workloads are about to create are counted first.
"""

from __future__ import annotations

from headroom.core.names import GROUP
from headroom.dialects.proactive.decoder import decode, marked_placeholder
from headroom.dialects.proactive.names import AUTOSCALER_LEASE, OBJECT_NAME, PRIORITY_CLASS
from headroom.dialects.proactive.objects import class_object
from headroom.wire.dialect import Dialect
from headroom.wire.kinds import DEPLOYMENTS, HEADROOMS, JOBS, STATEFUL_SETS
from headroom.wire.rbac import named, rule

PROACTIVE = Dialect(
    name="proactive",
    decoders={},
    rules=(
        rule(GROUP, ("headrooms",), ("create", "patch", "delete")),
        named("scheduling.k8s.io", ("priorityclasses",), ("get",), (PRIORITY_CLASS,)),
        named("coordination.k8s.io", ("leases",), ("list",), (AUTOSCALER_LEASE,)),
    ),
    classes=(class_object(),),
    guardian_classes=(PRIORITY_CLASS,),
    headrooms=(("", OBJECT_NAME),),
    reads={HEADROOMS: decode},
    dress_pod=marked_placeholder,
    follows=(DEPLOYMENTS, STATEFUL_SETS, JOBS),
)

__all__ = ["PROACTIVE"]
