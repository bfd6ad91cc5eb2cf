"""The fields of a Quota, the checks of korder's webhook as rules, and its definition.

One field accepts more than korder's own: `max-duration` may be a duration such as `24h`, as korder
documents it. No schema can detect a second Quota for the whole cluster; its conditions report it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.dialects.korder.definitions import definition
from headroom.dialects.korder.kinds import QUOTAS
from headroom.dialects.korder.quotalimits import DEFAULT_LIMITS, known_name, limit_of, longest_of
from headroom.dialects.korder.quotastatus import ceiling_json
from headroom.dialects.korder.rules import limits
from headroom.dialects.korder.schema import CONDITION
from headroom.wire.kinds import Json
from headroom.wire.schema.crd import AGE, column
from headroom.wire.schema.notation import OBJECT, Catalogue, Field, SchemaRule, of
from headroom.wire.schema.own import known
from headroom.wire.schema.structural import COMPARED, DURATION_PATTERN, QUANTITY_PATTERN

# Either notation; a rule checks which name may have which.
_LIMITS = {
    "maxProperties": 32,
    "additionalProperties": {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
        "pattern": f"{QUANTITY_PATTERN}|{DURATION_PATTERN}",
        "minimum": 0,
        "maxLength": 32,
    },
}
_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"

TYPES: dict[str, dict[str, Field]] = {
    "Quota": {
        **OBJECT,
        "spec": of("QuotaSpec!", "How much the objects of a scope may hold together."),
        "status": of("QuotaStatus", "What is used; only the operator writes it."),
    },
    "QuotaSpec": {
        "scope": of("QuotaScope!", "Which Orders and Tickets count."),
        "hard": of(
            "{}intorstring",
            "The maximum of orders, tickets and reserved.<resource>, and of the duration of a "
            "ticket (max-duration): in seconds, or as a duration such as 24h.",
            default=ceiling_json(DEFAULT_LIMITS),
            **_LIMITS,
        ),
        "timeWindows": of(
            "[]QuotaTimeWindow",
            "Hours in which more or less may be reserved; the first open window applies.",
            maxItems=32,
        ),
        "allocation": of("[]QuotaAllocation", "The maximum for single namespaces.", maxItems=64),
    },
    "QuotaScope": {
        "type": of(f"={'|'.join(limits.SCOPES)}", "It cannot be changed.", default=limits.CLUSTER),
        "namespaceSelector": of("LabelSelector", "With NamespaceSelector: by namespaces' labels."),
        "namespaces": of(
            "[]string", "With NamespaceList: those of these namespaces.", maxItems=256
        ),
        "objectSelector": of("LabelSelector", "With ObjectSelector: by their own labels."),
    },
    "QuotaTimeWindow": {
        "name": of("string!", "Its name in the status.", minLength=1, maxLength=253),
        "schedule": of(
            "string!",
            "Hours in cron's five fields, in UTC: open in every minute that they allow, such as "
            "0 9-17 * * 1-5 for the working day.",
            minLength=1,
            maxLength=128,
        ),
        "multiplier": of(
            "string!",
            "The factor for what may be reserved; a number above 0, such as 0.5.",
            minLength=1,
            maxLength=20,
        ),
    },
    "QuotaAllocation": {
        "namespace": of("string!", "The namespace.", pattern=_NAME, maxLength=63),
        "limits": of("{}intorstring!", "As hard, but only for this namespace.", **_LIMITS),
    },
    "QuotaStatus": {
        "hard": of("{}quantity", "The limits that apply now, with the open window."),
        "used": of("{}quantity", "The amounts used now."),
        "activeTimeWindow": of("string", "The window that is open."),
        "conditions": of("[]QuotaCondition", "Ready, Enforced and Exceeded."),
        "observedGeneration": of("int64", "The generation of the spec that this status describes."),
    },
    "QuotaCondition": CONDITION,
}


def _readable(given: Mapping[str, Any]) -> bool:
    """Whether every limit with a known name can be parsed; unknown names are only reported."""
    try:
        for name, value in given.items():
            if name == limits.MAX_DURATION:
                longest_of(str(value))
            elif known_name(name):
                limit_of(name, value)
    except ValueError:
        return False
    return True


def _limits(field: str, cel: str) -> SchemaRule:
    return SchemaRule(
        cel,
        f"only {limits.MAX_DURATION} may be a duration; write a quantity such as 500m, 2 or 1Gi",
        lambda holder: _readable(holder.get(field) or {}),
        at=field,
    )


# Parsing an amount is expensive for an API server of 1.33, so a rule checks only these names. The
# operator checks the others, and the limits of single namespaces, and reports a condition.
_JUDGED = [limits.ORDERS, limits.TICKETS, *(f"{limits.RESERVED}{name}" for name in COMPARED)]
_HARD = _limits(
    "hard",
    f"!has(self.hard) || {_JUDGED!r}.all(name, !(name in self.hard) || "
    "isQuantity(string(self.hard[name])))",
)


def _needs(kind: str, field: str) -> SchemaRule:
    return SchemaRule(
        f"self.type != '{kind}' || has(self.{field})",
        f"{field} is needed with type {kind}",
        lambda scope: scope.get("type") != kind or field in scope,
        at=field,
    )


def _lists_namespaces(scope: Mapping[str, Any]) -> bool:
    names = scope.get("namespaces") or ()
    return bool(names) and all(names)


RULES: dict[str, tuple[SchemaRule, ...]] = {
    "QuotaSpec": (_HARD,),
    "QuotaAllocation": (_limits("limits", ""),),
    "QuotaScope": (
        SchemaRule(
            "self.type == oldSelf.type",
            "the type of a scope cannot be changed; create another Quota",
            lambda scope: True,  # Only an update can violate it.
            at="type",
        ),
        _needs(limits.NAMESPACE_SELECTOR, "namespaceSelector"),
        _needs(limits.OBJECT_SELECTOR, "objectSelector"),
        SchemaRule(
            f"self.type != '{limits.NAMESPACE_LIST}' || (has(self.namespaces) && "
            "size(self.namespaces) > 0 && self.namespaces.all(name, name != ''))",
            f"namespaces are needed with type {limits.NAMESPACE_LIST}, none of them empty",
            lambda scope: scope.get("type") != limits.NAMESPACE_LIST or _lists_namespaces(scope),
            at="namespaces",
        ),
    ),
}

_EXCEEDED = '.status.conditions[?(@.type=="Exceeded")]'
_COLUMNS = (
    column("Scope", ".spec.scope.type"),
    column("Enforced", '.status.conditions[?(@.type=="Enforced")].status'),
    column("Exceeded", f"{_EXCEEDED}.status"),
    column("Window", ".status.activeTimeWindow"),
    AGE,
    column("Message", f"{_EXCEEDED}.message", priority=1),
)


def with_quota(catalogue: Catalogue) -> Catalogue:
    """The catalogue with Quota."""
    kinds = {f"{QUOTAS.api_version}/{QUOTAS.kind}": QUOTAS.kind}
    return catalogue.extended(TYPES, kinds, RULES, frozenset({QUOTAS.kind}))


def quota_definition() -> Json:
    """The CustomResourceDefinition of Quota."""
    return definition(
        QUOTAS,
        with_quota(known()),
        _COLUMNS,
        "A Quota limits what Orders and Tickets hold: in the cluster, in some namespaces, or of "
        "those with some labels. What stands is left alone; what is new waits for room.",
    )
