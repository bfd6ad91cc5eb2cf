"""The kind CapacityBuffer as its authors define it: fields, rules and printer columns.

Not stricter than theirs: what the cluster's own definition lets in is let in here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from headroom.core.sizes.buffer import ACTIVE
from headroom.dialects.capacitybuffer.names import BUFFERS, GROUP, OLDER_VERSION, VERSION
from headroom.wire.schema.notation import Catalogue, Field, SchemaRule, kubernetes, of
from headroom.wire.schema.structural import structural

# Objects of the API are open-ended JSON.
Json: TypeAlias = dict[str, Any]

KIND = BUFFERS.kind

TYPES: Mapping[str, Mapping[str, Field]] = {
    "CapacityBuffer": {
        "apiVersion": of("string"),
        "kind": of("string"),
        "metadata": of("ObjectMeta"),
        "spec": of("CapacityBufferSpec!", "What spare capacity to keep."),
        "status": of("CapacityBufferStatus", "What became of it; written by the operator only."),
    },
    "CapacityBufferSpec": {
        "provisioningStrategy": of("string", "How capacity is kept.", default=ACTIVE),
        "podTemplateRef": of("CapacityBufferTemplateRef", "A PodTemplate: the shape of a chunk."),
        "scalableRef": of("CapacityBufferScalableRef", "A workload whose pods give the shape."),
        "replicas": of("int32", "So many chunks.", minimum=0),
        "percentage": of("int32", "So many hundredths of the workload's replicas.", minimum=0),
        "limits": of("{}quantity", "No more than this in all chunks together."),
    },
    "CapacityBufferTemplateRef": {"name": of("string!", "Its name.", minLength=1)},
    "CapacityBufferScalableRef": {
        "apiGroup": of("string", "Its group, such as apps."),
        "kind": of("string!", "Such as Deployment.", minLength=1),
        "name": of("string!", "Its name.", minLength=1),
    },
    "CapacityBufferStatus": {
        "replicas": of("int32", "So many chunks are to be kept."),
        "podTemplateRef": of("CapacityBufferTemplateRef", "The template in use."),
        "podTemplateGeneration": of("int64", "Its generation."),
        "provisioningStrategy": of("string", "The strategy in use."),
        "conditions": of("[]Condition", "ReadyForProvisioning, LimitedByQuotas, Provisioning."),
    },
    "PodTemplate": {
        "apiVersion": of("string"),
        "kind": of("string"),
        "metadata": of("ObjectMeta"),
        "template": of("PodTemplateSpec"),
    },
}

_RULES = (
    SchemaRule(
        "!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)",
        "a buffer with podTemplateRef needs replicas or limits",
        lambda spec: "podTemplateRef" not in spec or "replicas" in spec or "limits" in spec,
    ),
    SchemaRule(
        "!has(self.podTemplateRef) || !has(self.scalableRef)",
        "a buffer has podTemplateRef or scalableRef, not both",
        lambda spec: "podTemplateRef" not in spec or "scalableRef" not in spec,
    ),
)


def with_buffers(catalogue: Catalogue) -> Catalogue:
    """The kinds that are known, CapacityBuffer and what it names."""
    kinds = {f"{BUFFERS.api_version}/{KIND}": KIND, "v1/PodTemplate": "PodTemplate"}
    return catalogue.extended(TYPES, kinds, {"CapacityBufferSpec": _RULES}, frozenset({KIND}))


def definitions() -> list[Json]:
    """Return the CustomResourceDefinition, for clusters that have none yet."""
    catalogue = with_buffers(kubernetes())
    return [
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {
                "name": f"{BUFFERS.plural}.{GROUP}",
                # The group is the community's: without this no API server takes its definitions.
                "annotations": {"api-approved.kubernetes.io": "unapproved, experimental-only"},
            },
            "spec": {
                "group": GROUP,
                "scope": "Namespaced",
                "names": {
                    "kind": KIND,
                    "listKind": f"{KIND}List",
                    "plural": BUFFERS.plural,
                    "singular": KIND.lower(),
                    "shortNames": ["cb"],
                },
                "versions": [_version(catalogue, VERSION), _version(catalogue, OLDER_VERSION)],
            },
        }
    ]


def _version(catalogue: Catalogue, name: str) -> Json:
    schema = structural(KIND, catalogue)
    schema["properties"]["metadata"] = {"type": "object"}
    newest = name == VERSION
    return {
        "name": name,
        "served": True,
        "storage": newest,
        **({} if newest else {"deprecated": True}),
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            _column("Strategy", ".spec.provisioningStrategy"),
            _column("PodTemplate", ".status.podTemplateRef.name"),
            _column("Replicas", ".status.replicas", "integer"),
            _column("ConditionsType", ".status.conditions[*].type"),
            _column("ConditionsStatus", ".status.conditions[*].status"),
            _column("ConditionsReason", ".status.conditions[*].reason"),
            _column("Age", ".metadata.creationTimestamp", "date"),
        ],
    }


def _column(name: str, path: str, kind: str = "string") -> Json:
    return {"name": name, "type": kind, "jsonPath": path}
