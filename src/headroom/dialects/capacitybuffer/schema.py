"""The kind CapacityBuffer as its authors define it: fields, rules and printer columns.

It is not stricter than the original: it accepts what the cluster's own definition accepts.
"""

from __future__ import annotations

from collections.abc import Mapping

from headroom.dialects.capacitybuffer.names import BUFFERS, OLDER_VERSION
from headroom.dialects.capacitybuffer.rules.size import ACTIVE
from headroom.wire.kinds import Json
from headroom.wire.schema.crd import AGE, column, crd, crd_version
from headroom.wire.schema.notation import OBJECT, Catalogue, Field, kubernetes, of
from headroom.wire.schema.terms import lacks, one_of, rule

KIND = BUFFERS.kind

TYPES: Mapping[str, Mapping[str, Field]] = {
    "CapacityBuffer": {
        **OBJECT,
        "spec": of("CapacityBufferSpec!", "The spare capacity to keep."),
        "status": of("CapacityBufferStatus", "The observed state; only the operator writes it."),
    },
    "CapacityBufferSpec": {
        "provisioningStrategy": of("string", "How capacity is kept.", default=ACTIVE),
        "podTemplateRef": of("CapacityBufferTemplateRef", "A PodTemplate: the shape of a chunk."),
        "scalableRef": of("CapacityBufferScalableRef", "A workload: the shape of its pods."),
        "replicas": of("int32", "The number of chunks.", minimum=0),
        "percentage": of("int32", "A percentage of the workload's replicas.", minimum=0),
        "limits": of("{}quantity", "The maximum for all chunks together."),
    },
    "CapacityBufferTemplateRef": {"name": of("string!", "Its name.", minLength=1)},
    "CapacityBufferScalableRef": {
        "apiGroup": of("string", "Its group, such as apps."),
        "kind": of("string!", "Such as Deployment.", minLength=1),
        "name": of("string!", "Its name.", minLength=1),
    },
    "CapacityBufferStatus": {
        "replicas": of("int32", "The wanted number of chunks."),
        "podTemplateRef": of("CapacityBufferTemplateRef", "The template in use."),
        "podTemplateGeneration": of("int64", "Its generation."),
        "provisioningStrategy": of("string", "The strategy in use."),
        "conditions": of("[]Condition", "ReadyForProvisioning, LimitedByQuotas, Provisioning."),
    },
    "PodTemplate": {
        **OBJECT,
        "template": of("PodTemplateSpec"),
    },
}

_RULES = (
    rule(
        lacks("podTemplateRef") | one_of("replicas", "limits"),
        "a buffer with podTemplateRef needs replicas or limits",
    ),
    rule(
        lacks("podTemplateRef") | lacks("scalableRef"),
        "a buffer has podTemplateRef or scalableRef, not both",
    ),
)


def with_buffers(catalogue: Catalogue) -> Catalogue:
    """The known kinds, with CapacityBuffer and PodTemplate."""
    kinds = {f"{BUFFERS.api_version}/{KIND}": KIND, "v1/PodTemplate": "PodTemplate"}
    return catalogue.extended(TYPES, kinds, {"CapacityBufferSpec": _RULES}, frozenset({KIND}))


def definitions() -> list[Json]:
    """Return the CustomResourceDefinition, for clusters that have none yet."""
    columns = [
        column("Strategy", ".spec.provisioningStrategy"),
        column("PodTemplate", ".status.podTemplateRef.name"),
        column("Replicas", ".status.replicas", "integer"),
        column("ConditionsType", ".status.conditions[*].type"),
        column("ConditionsStatus", ".status.conditions[*].status"),
        column("ConditionsReason", ".status.conditions[*].reason"),
        AGE,
    ]
    newest = crd_version(
        BUFFERS,
        with_buffers(kubernetes()),
        subresources={"status": {}},
        additionalPrinterColumns=columns,
    )
    older = {**newest, "name": OLDER_VERSION, "storage": False, "deprecated": True}
    # A community API group: without this annotation, API servers refuse the definition.
    approval = {"api-approved.kubernetes.io": "unapproved, experimental-only"}
    return [crd(BUFFERS, [newest, older], {"annotations": approval}, shortNames=["cb"])]
