"""Who the operator is and what it may do: exactly what its watches and its actions need.

One line of rights for each thing it does (`core.actions`, `ports`), so that a reader can check
them: no secrets, no nodes written, its lease by name. People get our kinds through the
cluster's own roles `view`, `edit` and `admin`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from headroom.core.names import GROUP, LEASE_NAME, LOCKED_CLASS, PREEMPTIBLE_CLASS
from headroom.wire.policy import POLICY_NAME

# Objects of the API are open-ended JSON.
Json: TypeAlias = dict[str, Any]

ACCOUNT = "headroom-operator"

_LABELS = {"app.kubernetes.io/name": "headroom"}
_RBAC = "rbac.authorization.k8s.io"
_READ = ("get", "list", "watch")
_WRITE = ("create", "update", "patch", "delete", "deletecollection")
_OURS_TO_SEE = ("holds", "holds/status")
_OURS_TO_WRITE = ("holds",)
_AGGREGATE = f"{_RBAC}/aggregate-to-"


def rights(namespace: str) -> list[Json]:
    """Return the account, its roles and their bindings, and the roles for people."""
    return [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": ACCOUNT, "namespace": namespace, "labels": _LABELS},
        },
        _cluster_role(ACCOUNT, _operator_rules()),
        _binding("ClusterRole", "", namespace),
        _role(ACCOUNT, namespace, _lease_rules()),
        _binding("Role", namespace, namespace),
        _cluster_role(
            "headroom-view",
            [_rule(GROUP, _OURS_TO_SEE, _READ)],
            {
                f"{_AGGREGATE}view": "true",
                f"{_AGGREGATE}edit": "true",
                f"{_AGGREGATE}admin": "true",
            },
        ),
        _cluster_role(
            "headroom-edit",
            [_rule(GROUP, _OURS_TO_WRITE, _WRITE)],
            {f"{_AGGREGATE}edit": "true", f"{_AGGREGATE}admin": "true"},
        ),
    ]


def _operator_rules() -> list[Json]:
    return [
        _rule("", ("pods", "nodes", "namespaces"), _READ),
        _rule(GROUP, ("holds",), _READ),
        # Guardians and latches made and deleted; the gate and the claim taken off owners.
        _rule("", ("pods",), ("create", "delete", "patch")),
        # Nominations, and why a pod that names our scheduler waits.
        _rule("", ("pods/status",), ("patch",)),
        _rule("", ("pods/binding",), ("create",)),
        _rule(GROUP, ("holds/status",), ("patch",)),
        # Applied from the server's side: create the first time, patch ever after.
        _rule(GROUP, ("claimindexes",), ("get", "create", "patch")),
        _rule("", ("events",), ("create", "patch")),
        # At its start it looks whether these are there, and says so if not.
        _named(
            "scheduling.k8s.io", ("priorityclasses",), ("get",), (LOCKED_CLASS, PREEMPTIBLE_CLASS)
        ),
        _named(
            "admissionregistration.k8s.io",
            ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
            ("get",),
            (POLICY_NAME,),
        ),
    ]


def _lease_rules() -> list[Json]:
    group = "coordination.k8s.io"
    return [
        _rule(group, ("leases",), ("create",)),  # A name cannot be asked for here.
        _named(group, ("leases",), ("get", "update"), (LEASE_NAME,)),
    ]


def _rule(group: str, resources: tuple[str, ...], verbs: tuple[str, ...]) -> Json:
    return {"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}


def _named(
    group: str, resources: tuple[str, ...], verbs: tuple[str, ...], names: tuple[str, ...]
) -> Json:
    return {**_rule(group, resources, verbs), "resourceNames": [*names]}


def _cluster_role(name: str, rules: list[Json], labels: dict[str, str] | None = None) -> Json:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": {**_LABELS, **(labels or {})}},
        "rules": rules,
    }


def _role(name: str, namespace: str, rules: list[Json]) -> Json:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "Role",
        "metadata": {"name": name, "namespace": namespace, "labels": _LABELS},
        "rules": rules,
    }


def _binding(kind: str, namespace: str, account_namespace: str) -> Json:
    metadata: Json = {"name": ACCOUNT, "labels": _LABELS}
    if namespace:
        metadata["namespace"] = namespace
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": ACCOUNT},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": account_namespace}],
    }
