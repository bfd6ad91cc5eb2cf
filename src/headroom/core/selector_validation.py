"""Check whether the API server would accept a selector, a node term or a toleration.

The check runs once, when an object is read; `selection` then assumes valid input. The answer is
None or a sentence that begins with what is wrong, for the message of a Problem. The rules are those
of the API server's validation in 1.36.
"""

from __future__ import annotations

import re

from headroom.core.objects import LabelSelector, NodeTerm, Requirement, Toleration
from headroom.core.selection import NAME_FIELD, integer

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_LONGEST_NAME = 63
_LONGEST_SUBDOMAIN = 253
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_SETS = ("In", "NotIn")
_PRESENCE = ("Exists", "DoesNotExist")
_NUMERIC = ("Gt", "Lt")


def label_key_refusal(key: str) -> str | None:
    """Say what is wrong with a label key such as `app` or `example.com/app`."""
    prefix, slash, name = key.rpartition("/")
    if slash and not is_subdomain(prefix):
        return f"{key!r} is not a label key: {prefix!r} before the / is not a lowercase DNS name"
    if not _is_name(name):
        return (
            f"{key!r} is not a label key: a name has 1 to {_LONGEST_NAME} letters, digits, "
            "- _ or ., and begins and ends with a letter or digit"
        )
    return None


def label_value_refusal(value: str) -> str | None:
    """Say what is wrong with a label value; the empty one is sound."""
    if not value or _is_name(value):
        return None
    return (
        f"{value!r} is not a label value: it has at most {_LONGEST_NAME} letters, digits, "
        "- _ or ., and begins and ends with a letter or digit"
    )


def is_subdomain(text: str) -> bool:
    """Say whether a text is a DNS subdomain as object names are."""
    return len(text) <= _LONGEST_SUBDOMAIN and _SUBDOMAIN.fullmatch(text) is not None


def selector_refusal(selector: LabelSelector) -> str | None:
    """Say what is wrong with a label selector: its first bad requirement."""
    refusals = (requirement_refusal(one, (*_SETS, *_PRESENCE)) for one in selector.requirements)
    return next((refusal for refusal in refusals if refusal), None)


def node_term_refusal(term: NodeTerm) -> str | None:
    """Say what is wrong with a node selector term; an empty one is sound and matches nothing.

    Gt and Lt with a value that is no integer pass the API server, but kube-scheduler gives such
    a term up; that is refused here too.
    """
    by_label = (requirement_refusal(one, (*_SETS, *_PRESENCE, *_NUMERIC)) for one in term.labels)
    by_field = (_field_refusal(one) for one in term.fields)
    refusals = (*by_label, *by_field)
    return next((refusal for refusal in refusals if refusal), None)


def requirement_refusal(requirement: Requirement, operators: tuple[str, ...]) -> str | None:
    """Say what is wrong with one requirement, of which these operators are allowed."""
    operator, values = requirement.operator, requirement.values
    if operator not in operators:
        return f"operator {operator!r} is not one of {', '.join(operators)}"
    if operator in _SETS and not values:
        return f"operator {operator} of {requirement.key!r} needs at least one value"
    if operator in _PRESENCE and values:
        return f"operator {operator} of {requirement.key!r} takes no values"
    if operator in _NUMERIC and (len(values) != 1 or integer(values[0]) is None):
        return f"operator {operator} of {requirement.key!r} needs exactly one value, an integer"
    refusals = (label_key_refusal(requirement.key), *map(label_value_refusal, values))
    return next((refusal for refusal in refusals if refusal), None)


def _field_refusal(requirement: Requirement) -> str | None:
    if requirement.key != NAME_FIELD:
        return f"{requirement.key!r} is not a field to select nodes by; only {NAME_FIELD} is"
    if requirement.operator not in _SETS:
        return f"operator {requirement.operator!r} of {NAME_FIELD} is not one of In, NotIn"
    if len(requirement.values) != 1:
        return f"operator {requirement.operator} of {NAME_FIELD} needs exactly one value"
    name = requirement.values[0]
    return None if is_subdomain(name) else f"{name!r} is not a node name"


def toleration_refusal(toleration: Toleration) -> str | None:
    """Say what is wrong with a toleration."""
    operator = toleration.operator or "Equal"
    if operator not in ("Equal", "Exists"):
        return f"operator {operator!r} is not one of Equal, Exists"
    if not toleration.key and operator != "Exists":
        return "without a key the operator must be Exists, which tolerates every key"
    if operator == "Exists" and toleration.value:
        return "operator Exists takes no value"
    if toleration.effect and toleration.effect not in _EFFECTS:
        return f"effect {toleration.effect!r} is not one of {', '.join(_EFFECTS)}"
    if toleration.seconds is not None and toleration.effect != "NoExecute":
        return "tolerationSeconds needs the effect NoExecute"
    if toleration.key and (refusal := label_key_refusal(toleration.key)):
        return refusal
    return label_value_refusal(toleration.value)


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None
