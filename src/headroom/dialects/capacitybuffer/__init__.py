"""The dialect `capacitybuffer`: CapacityBuffers of autoscaling.x-k8s.io, kept by placeholder pods.

A buffer is a Headroom whose slots any pod may preempt (`buffers`). `rules` calculates the number
and the conditions as the API says. `statuses` writes the status, `schema` has the kind. A buffer
that an autoscaler in the cluster serves itself is ignored.
"""

from __future__ import annotations

from headroom.dialects.capacitybuffer.buffers import decode_buffer, decode_pod_template
from headroom.dialects.capacitybuffer.names import BUFFERS, GROUP
from headroom.dialects.capacitybuffer.schema import definitions, with_buffers
from headroom.dialects.capacitybuffer.statuses import status_json
from headroom.wire.dialect import Dialect
from headroom.wire.foreign_objects import object_writes
from headroom.wire.kinds import POD_TEMPLATES, RESOURCE_QUOTAS
from headroom.wire.rbac import READ, rule

CAPACITYBUFFER = Dialect(
    name="capacitybuffer",
    decoders={BUFFERS: decode_buffer},
    render=object_writes({BUFFERS: lambda status, _: status_json(status)}),
    definitions=definitions,
    rules=(
        rule(GROUP, (BUFFERS.plural,), READ),
        rule(GROUP, (f"{BUFFERS.plural}/status",), ("patch",)),
        rule("", ("podtemplates",), READ),
    ),
    catalogue=with_buffers,
    reads={POD_TEMPLATES: decode_pod_template},
    follows=(POD_TEMPLATES, RESOURCE_QUOTAS),
)

__all__ = ["CAPACITYBUFFER"]
