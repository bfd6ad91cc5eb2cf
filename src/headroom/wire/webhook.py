"""The webhook's registration with the API server: which new pods it is asked about, and how.

For clusters without MutatingAdmissionPolicy. It may delay a pod by two seconds at most and can
stop none (`Ignore`). What can be judged without the claim index is judged by the API server
itself, in the words of `wire.policy`, so that few pods make a call. `headroom.webhook` answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headroom.wire import policy
from headroom.wire.admission_policies.cel import named_expressions
from headroom.wire.installed_kinds import LABELS, REGISTRATIONS
from headroom.wire.kinds import Json

WEBHOOK_NAME = "headroom-webhook"  # of its account, roles, Secret, Service and registration
CLAIMS_PATH = "/claims"
ASKS_PATH = "/asks"
TIMEOUT_SECONDS = 2


def registration(home: str, asks: Sequence[str] = (), url: str = "") -> Json:
    """Return the MutatingWebhookConfiguration for a webhook in namespace `home`, or at a URL.

    `asks` are annotations by which pods of a dialect ask for a hold. Whom to trust (`caBundle`) is
    left out: the webhook writes that itself.
    """
    hooks = [
        _hook(
            policy.POLICY_NAME, _address(home, url, CLAIMS_PATH), policy.opted_in(), policy.UNPLACED
        )
    ]
    if asks:
        conditions = {**policy.asking_by(asks), **policy.UNPLACED}
        where = policy.where_pods_may_ask(home)
        hooks.append(
            _hook(policy.ASKS_POLICY_NAME, _address(home, url, ASKS_PATH), where, conditions)
        )
    return REGISTRATIONS.new({"name": WEBHOOK_NAME, "labels": LABELS}, webhooks=hooks)


def _address(home: str, url: str, path: str) -> Json:
    if url:
        return {"url": f"{url.rstrip('/')}{path}"}
    return {"service": {"name": WEBHOOK_NAME, "namespace": home, "path": path, "port": 443}}


def _hook(name: str, client: Json, namespaces: Json, conditions: Mapping[str, str]) -> Json:
    return {
        "name": name,
        "clientConfig": client,
        "rules": [{**policy.NEW_PODS, "scope": "Namespaced"}],
        "namespaceSelector": namespaces,
        "objectSelector": {},
        "matchConditions": named_expressions(conditions),
        "matchPolicy": "Equivalent",
        # Whatever goes wrong here, the pod is created as it was asked for.
        "failurePolicy": "Ignore",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "sideEffects": "None",
        "reinvocationPolicy": "IfNeeded",
        "admissionReviewVersions": ["v1"],
    }
