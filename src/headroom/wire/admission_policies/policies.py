"""All policies of an installation: the operator's account, the webhook's, and what is reserved."""

from __future__ import annotations

from headroom.wire.admission_policies import cel
from headroom.wire.admission_policies.changes import bindings, changes, deletions
from headroom.wire.admission_policies.daemonsets import daemon_sets
from headroom.wire.admission_policies.objects import objects
from headroom.wire.admission_policies.pods import creation
from headroom.wire.admission_policies.tenants import reserved
from headroom.wire.guardians import PAUSE_IMAGE
from headroom.wire.install.rights import ACCOUNT
from headroom.wire.installed_kinds import REGISTRATIONS
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import Json
from headroom.wire.webhook import WEBHOOK_NAME

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


def registration_changes(user: str) -> cel.Validating:
    """The policy on changes of registrations by the webhook itself."""
    same = [f"old.?{name} == hook.?{name}" for name in _HOOK]
    same += [f"old.clientConfig.?{name} == hook.clientConfig.?{name}" for name in _ADDRESS]
    hooks = (
        "size(object.?webhooks.orValue([])) == size(oldObject.?webhooks.orValue([])) && "
        "object.?webhooks.orValue([]).all(hook, oldObject.?webhooks.orValue([])"
        f".exists(old, old.name == hook.name && {cel.both(same)}))"
    )
    return cel.Validating(
        NAME,
        (cel.Match(REGISTRATIONS.group, (REGISTRATIONS.plural,), ("UPDATE",)),),
        cel.made_by(user),
        (
            cel.Check(hooks, "the webhook writes only the caBundle of its registration"),
            cel.Check(
                cel.unchanged("metadata", _METADATA),
                "the webhook leaves the metadata of its registration alone",
            ),
        ),
    )


def confinement_objects(
    home: str, codecs: KindCodecs = NATIVE, image: str = PAUSE_IMAGE, *, webhook: bool = False
) -> list[Json]:
    """Return every policy and its binding, for an operator that lives in namespace `home`."""
    operator = cel.account_name(home, ACCOUNT)
    policies: list[cel.Validating] = [
        creation(operator, home, image, codecs),
        changes(operator, codecs),
        deletions(operator, codecs),
        bindings(operator, codecs),
        daemon_sets(operator, image, codecs),
        *objects(operator, home, codecs),
        *reserved(operator, codecs),
    ]
    if webhook:
        policies.append(registration_changes(cel.account_name(home, WEBHOOK_NAME)))
    return [made for policy in policies for made in policy.objects()]
