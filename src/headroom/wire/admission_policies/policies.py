"""All policies of an installation: the operator's account, the webhook's, and what is reserved."""

from __future__ import annotations

from typing import Any, TypeAlias

from headroom.wire.admission_policies.cel import Validating, account_name
from headroom.wire.admission_policies.changes import bindings, changes, deletions
from headroom.wire.admission_policies.daemonsets import daemon_sets
from headroom.wire.admission_policies.objects import objects
from headroom.wire.admission_policies.pods import creation
from headroom.wire.admission_policies.tenants import reserved
from headroom.wire.admission_policies.webhook import registration_changes
from headroom.wire.guardians import PAUSE_IMAGE
from headroom.wire.install.rights import ACCOUNT
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.webhook import WEBHOOK_NAME

# Objects of the API are open-ended JSON.
Json: TypeAlias = dict[str, Any]


def confinement_objects(
    home: str, speech: KindCodecs = NATIVE, image: str = PAUSE_IMAGE, *, webhook: bool = False
) -> list[Json]:
    """Return every policy and its binding, for an operator that lives in namespace `home`."""
    operator = account_name(home, ACCOUNT)
    policies: list[Validating] = [
        creation(operator, home, image, speech),
        changes(operator, speech),
        deletions(operator, speech),
        bindings(operator, speech),
        daemon_sets(operator, image, speech),
        *objects(operator, home, speech),
        *reserved(operator, speech),
    ]
    if webhook:
        policies.append(registration_changes(account_name(home, WEBHOOK_NAME)))
    return [made for policy in policies for made in policy.objects()]
