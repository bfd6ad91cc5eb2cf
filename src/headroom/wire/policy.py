"""The admission policies that put our scheduling gate onto pods that may claim a hold.

A MutatingAdmissionPolicy runs inside the API server, so no webhook stands in the way of pods. It
looks the new pod up in the namespace's ClaimIndex, which the operator keeps (keys as in
`core.owners.index_keys`), and does nothing once the index is no longer fresh: an operator that is
gone stops nobody's pods. One policy is about namespaces labelled for it; the other, there only
with a dialect whose pods ask by annotation, about such pods anywhere. Needs Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headroom.core import names
from headroom.wire.admission_policies.cel import named_expressions, texts
from headroom.wire.installed_kinds import GATE_BINDINGS, GATE_POLICIES, LABELS
from headroom.wire.kinds import CLAIM_INDEXES, Json

POLICY_NAME = "claim-gate.headroom.dev"
ASKS_POLICY_NAME = "asks-gate.headroom.dev"
_NAMESPACE_NAME = "kubernetes.io/metadata.name"  # a label that every namespace has

NEW_PODS = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods"],
}

# Conditions are tried in this order, the cheap ones first; all must hold. `core.claim_gate` says
# the same to the webhook and to the simulator.
UNPLACED = {
    "not-placed": "!has(object.spec.nodeName) || object.spec.nodeName == ''",
    "for-kube-scheduler": (
        "!has(object.spec.schedulerName) || "
        f"object.spec.schedulerName == '{names.DEFAULT_SCHEDULER_NAME}'"
    ),
    "not-ours": (
        f"!has(object.metadata.labels) || !('{names.ROLE_LABEL}' in object.metadata.labels)"
    ),
    "not-gated-yet": (
        "!has(object.spec.schedulingGates) || "
        f"!object.spec.schedulingGates.exists(gate, gate.name == '{names.CLAIM_GATE}')"
    ),
}
_FRESH = {
    # Admission has no clock, but the API server has stamped the new pod by then.
    "index-is-fresh": (
        "has(object.metadata.managedFields) && size(object.metadata.managedFields) > 0 && "
        "has(object.metadata.managedFields[0].time) && "
        "timestamp(object.metadata.managedFields[0].time) < timestamp(params.spec.freshUntil)"
    ),
}
# The API server has given every pod its priority by then.
_IMPORTANT = (
    "has(params.spec.priorityAtLeast) && ("
    "(has(object.spec.priority) && !(object.spec.priority < params.spec.priorityAtLeast)) || "
    "(!has(object.spec.priority) && !(0 < params.spec.priorityAtLeast)))"
)
_OWNS = {
    "may-own-a-hold": (
        f"({_IMPORTANT}) || has(params.spec.keys) && ('*' in params.spec.keys || "
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
    f'value: Object.spec.schedulingGates{{name: "{names.CLAIM_GATE}"}}}}]'
)


def policy_objects(asks: Sequence[str] = (), home: str = "") -> list[Json]:
    """Return the policies and their bindings.

    Without a labelled namespace the first does nothing. `asks` are annotations by which pods ask
    for a hold in any namespace but the cluster's own and ours (`home`).
    """
    conditions = {**UNPLACED, **_FRESH, **_OWNS}
    made = [_policy(POLICY_NAME, opted_in(), conditions), _binding(POLICY_NAME)]
    if not asks:
        return made
    return [
        *made,
        _policy(ASKS_POLICY_NAME, where_pods_may_ask(home), _asking(asks)),
        _binding(ASKS_POLICY_NAME),
    ]


def opted_in() -> Json:
    """The selector of namespaces whose pods may claim without a word of their own."""
    return {"matchLabels": {names.CLAIMS_NAMESPACE_LABEL: "enabled"}}


def where_pods_may_ask(home: str) -> Json:
    """The selector of namespaces in which an annotation makes a pod wait."""
    others = {"key": _NAMESPACE_NAME, "operator": "NotIn", "values": never_gated(home)}
    return {"matchExpressions": [others]}


def never_gated(home: str) -> list[str]:
    """The namespaces in which no annotation makes a pod wait."""
    return list(dict.fromkeys((*names.CLUSTER_NAMESPACES, *filter(None, (home,)))))


def _asking(asks: Sequence[str]) -> dict[str, str]:
    """What holds of a pod that asks for a hold while there may be one."""
    carried = _carried(asks)
    return {
        **asking_by(asks),
        **UNPLACED,
        **_FRESH,
        "may-own-a-hold": (
            f"has(params.spec.keys) && {carried} && ('asks:' + name) in params.spec.keys)"
        ),
    }


def asking_by(asks: Sequence[str]) -> dict[str, str]:
    """What holds of a pod that carries one of these annotations."""
    return {"asks": f"has(object.metadata.annotations) && {_carried(asks)})"}


def _carried(asks: Sequence[str]) -> str:
    return f"{texts(asks)}.exists(name, name in object.metadata.annotations"


def _policy(name: str, namespaces: Json, conditions: Mapping[str, str]) -> Json:
    spec = {
        # Whatever goes wrong here, the pod is created as it was asked for.
        "failurePolicy": "Ignore",
        # Should somebody's later patch drop the gate, it is put back. A pod that did not match
        # is not looked at again: labels that others add on the way do not count.
        "reinvocationPolicy": "IfNeeded",
        "paramKind": {"apiVersion": names.API_VERSION, "kind": CLAIM_INDEXES.kind},
        "matchConstraints": {"namespaceSelector": namespaces, "resourceRules": [dict(NEW_PODS)]},
        "matchConditions": named_expressions(conditions),
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": _PATCH}}],
    }
    return GATE_POLICIES.new({"name": name, "labels": LABELS}, spec=spec)


def _binding(name: str) -> Json:
    # No namespace: the index of the pod's own one. None there: nothing to gate.
    index = {"name": names.INDEX_NAME, "parameterNotFoundAction": "Allow"}
    spec = {"policyName": name, "paramRef": index}
    return GATE_BINDINGS.new({"name": name, "labels": LABELS}, spec=spec)
