"""The admission policy that puts our scheduling gate onto pods that may claim a hold.

A MutatingAdmissionPolicy runs inside the API server, so no webhook stands in the way of pods. It
looks the new pod up in the namespace's ClaimIndex, which the operator keeps (keys as in
`core.owners.index_keys`), and does nothing once the index is no longer fresh: an operator that is
gone stops nobody's pods. Only namespaces labelled for it are concerned. Needs Kubernetes 1.36.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from headroom.core.names import (
    API_VERSION,
    CLAIM_GATE,
    CLAIMS_NAMESPACE_LABEL,
    DEFAULT_SCHEDULER_NAME,
    INDEX_NAME,
    ROLE_LABEL,
)
from headroom.wire.kinds import CLAIM_INDEXES

# Objects of the API are open-ended JSON.
Json: TypeAlias = dict[str, Any]

POLICY_NAME = "claim-gate.headroom.dev"
POLICY_API = "admissionregistration.k8s.io/v1"

# Conditions are tried in this order, the cheap ones first; all must hold.
_CONDITIONS = {
    "not-placed": "!has(object.spec.nodeName) || object.spec.nodeName == ''",
    "for-kube-scheduler": (
        "!has(object.spec.schedulerName) || "
        f"object.spec.schedulerName == '{DEFAULT_SCHEDULER_NAME}'"
    ),
    "not-ours": f"!has(object.metadata.labels) || !('{ROLE_LABEL}' in object.metadata.labels)",
    "not-gated-yet": (
        "!has(object.spec.schedulingGates) || "
        f"!object.spec.schedulingGates.exists(gate, gate.name == '{CLAIM_GATE}')"
    ),
    # Admission has no clock, but the API server has stamped the new pod by then.
    "index-is-fresh": (
        "has(object.metadata.managedFields) && size(object.metadata.managedFields) > 0 && "
        "has(object.metadata.managedFields[0].time) && "
        "timestamp(object.metadata.managedFields[0].time) < timestamp(params.spec.freshUntil)"
    ),
    "may-own-a-hold": (
        "has(params.spec.keys) && ('*' in params.spec.keys || "
        "(has(object.metadata.name) && ('name:' + object.metadata.name) in params.spec.keys) || "
        "(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(owner, "
        "('controller:' + owner.name) in params.spec.keys)) || "
        "(has(object.metadata.labels) && object.metadata.labels.exists(key, "
        "('label:' + key + '=' + object.metadata.labels[key]) in params.spec.keys || "
        "('exists:' + key) in params.spec.keys)))"
    ),
}

# A patch and not an apply configuration: merging by field ownership fails on pods that repeat a
# port or a variable, which are valid; and gates of others must stay whatever happens. The list is
# made empty first, because a list of objects as a patch's value crashes the request in 1.36.
_PATCH = (
    "(has(object.spec.schedulingGates) ? [] : "
    '[JSONPatch{op: "add", path: "/spec/schedulingGates", value: []}]) + '
    '[JSONPatch{op: "add", path: "/spec/schedulingGates/-", '
    f'value: Object.spec.schedulingGates{{name: "{CLAIM_GATE}"}}}}]'
)


def policy_objects() -> list[Json]:
    """Return the policy and its binding; without a labelled namespace they do nothing."""
    return [_policy(), _binding()]


def _policy() -> Json:
    return {
        "apiVersion": POLICY_API,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": POLICY_NAME, "labels": {"app.kubernetes.io/name": "headroom"}},
        "spec": {
            # Whatever goes wrong here, the pod is created as it was asked for.
            "failurePolicy": "Ignore",
            # Should somebody's later patch drop the gate, it is put back. A pod that did not match
            # is not looked at again: labels that others add on the way do not count.
            "reinvocationPolicy": "IfNeeded",
            "paramKind": {"apiVersion": API_VERSION, "kind": CLAIM_INDEXES.kind},
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {CLAIMS_NAMESPACE_LABEL: "enabled"}},
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods"],
                    }
                ],
            },
            "matchConditions": [
                {"name": name, "expression": expression} for name, expression in _CONDITIONS.items()
            ],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": _PATCH}}],
        },
    }


def _binding() -> Json:
    return {
        "apiVersion": POLICY_API,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": POLICY_NAME, "labels": {"app.kubernetes.io/name": "headroom"}},
        "spec": {
            "policyName": POLICY_NAME,
            # No namespace: the index of the pod's own one. None there: nothing to gate.
            "paramRef": {"name": INDEX_NAME, "parameterNotFoundAction": "Allow"},
        },
    }
