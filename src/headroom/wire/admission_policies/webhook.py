"""What the webhook's account may write: whom API servers trust when they call it, and no more.

RBAC gives it its own registration by name; this keeps it from pointing that anywhere else, from
asking about other objects, and from standing in anybody's way.
"""

from __future__ import annotations

from headroom.wire.admission_policies.cel import Check, Match, Validating, both, made_by, unchanged
from headroom.wire.webhook import REGISTRATIONS

NAME = "webhook-registration.headroom.dev"

_HOOK = (
    "rules",
    "failurePolicy",
    "matchPolicy",
    "namespaceSelector",
    "objectSelector",
    "sideEffects",
    "timeoutSeconds",
    "admissionReviewVersions",
    "reinvocationPolicy",
    "matchConditions",
)
_ADDRESS = ("url", "service")
_METADATA = ("labels", "annotations", "ownerReferences", "finalizers")


def registration_changes(user: str) -> Validating:
    """The policy on changes of registrations by the webhook itself."""
    same = [f"old.?{name} == hook.?{name}" for name in _HOOK]
    same += [f"old.clientConfig.?{name} == hook.clientConfig.?{name}" for name in _ADDRESS]
    hooks = (
        "size(object.?webhooks.orValue([])) == size(oldObject.?webhooks.orValue([])) && "
        "object.?webhooks.orValue([]).all(hook, oldObject.?webhooks.orValue([])"
        f".exists(old, old.name == hook.name && {both(same)}))"
    )
    return Validating(
        NAME,
        (Match(REGISTRATIONS.group, (REGISTRATIONS.plural,), ("UPDATE",)),),
        made_by(user),
        (
            Check(hooks, "the webhook writes only the caBundle of its registration"),
            Check(
                unchanged("metadata", _METADATA),
                "the webhook leaves the metadata of its registration alone",
            ),
        ),
    )
