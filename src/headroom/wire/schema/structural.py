"""The schema of a CRD made from our notation: structural OpenAPI v3 with CEL rules.

The API server then checks our objects, and a pod template inside them, field by field, without a
webhook. `crds` puts the schemas into CustomResourceDefinitions.
"""

from __future__ import annotations

from collections.abc import Mapping

from headroom.wire.kinds import Json
from headroom.wire.schema import notation

# What Kubernetes itself takes for a quantity, without a minus: nothing here may be negative.
QUANTITY_PATTERN = r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?$"
# Go's notation without a minus. The rules of ours are written in CEL for the sake of their message.
DURATION_PATTERN = r"^[+]?(([0-9]{1,9}([.][0-9]{0,9})?|[.][0-9]{1,9})(ns|us|ms|s|m|h))+$|^[+]?0$"

# The name of an object, and the key of a label; as Kubernetes has them.
NAME_PATTERN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
KEY_PATTERN = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"

_SCALARS: dict[str, Json] = {
    "any": {"x-kubernetes-preserve-unknown-fields": True},
    "bool": {"type": "boolean"},
    "bytes": {"type": "string", "format": "byte"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "intorstring": {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
    },
    "number": {"type": "number"},
    "object": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "quantity": {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
        "pattern": QUANTITY_PATTERN,
        "minimum": 0,
    },
    "string": {"type": "string"},
    "time": {"type": "string", "format": "date-time"},
    "duration": {
        "type": "string",
        "maxLength": 32,
        "x-kubernetes-validations": [
            {
                "rule": f"self.matches('{DURATION_PATTERN}')",
                "message": "must be a duration such as 90s, 1h30m or 0, and not negative",
            },
            {
                # duration() fails on what does not fit; nothing else can make this false.
                "rule": f"!self.matches('{DURATION_PATTERN}') || duration(self) >= duration('0s')",
                "message": "must be at most 292 years; 0 means for ever",
            },
        ],
    },
}


# Comparing amounts costs an API server of Kubernetes 1.33 a tenth of a rule's budget each, however
# short they are. So a rule compares these, and the operator's own checks compare all.
COMPARED = (
    "cpu",
    "memory",
    "ephemeral-storage",
    "nvidia.com/gpu",
    "amd.com/gpu",
    "hugepages-2Mi",
    "hugepages-1Gi",
)


def cel_at_most(less: str, most: str) -> str:
    """Return in CEL: what both maps of quantities name is at most as much in the first."""
    return (
        f"{list(COMPARED)!r}.all(name, !(name in {less}) || !(name in {most}) || "
        f"quantity(string({less}[name])).compareTo(quantity(string({most}[name]))) <= 0)"
    )


def scalar(name: str) -> Json:
    """Return the schema of a scalar, for a field that narrows it."""
    return dict(_SCALARS[name])


def structural(type_name: str, catalogue: notation.Catalogue) -> Json:
    """Return the structural schema of a type, everything that it reaches written out."""
    fields = catalogue.types[type_name]
    foreign = type_name in catalogue.foreign
    schema: Json = {"type": "object", "properties": _properties(fields, catalogue, foreign)}
    required = sorted(name for name, field in fields.items() if field.required)
    if required:
        schema["required"] = required
    rules = [
        {"rule": rule.cel, "message": rule.message}
        | ({"fieldPath": f".{rule.at}"} if rule.at else {})
        for rule in catalogue.rules.get(type_name, ())
        if rule.cel
    ]
    if rules:
        schema["x-kubernetes-validations"] = rules
    return schema


def _properties(
    fields: Mapping[str, notation.Field], catalogue: notation.Catalogue, foreign: bool
) -> Json:
    return {
        name: _of_type(field.type, catalogue, foreign and not field.required) | dict(field.facts)
        for name, field in sorted(fields.items())
    }


def _of_type(wanted: notation.Type, catalogue: notation.Catalogue, lenient: bool) -> Json:
    match wanted:
        case notation.Scalar(name):
            return scalar(name)
        case notation.WordChoice(words):
            return {"type": "string", "enum": [*words, ""] if lenient else [*words]}
        case notation.ListOf(item):
            return {"type": "array", "items": _of_type(item, catalogue, False)}
        case notation.MapOf(value):
            return {"type": "object", "additionalProperties": _of_type(value, catalogue, False)}
        case notation.Struct(name):
            return structural(name, catalogue)
