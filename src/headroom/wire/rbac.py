"""RBAC objects from few words: rules, roles, their bindings and accounts.

`install.rights` says with them what the operator may do, `install.webhook` what the webhook may.
"""

from __future__ import annotations

from headroom.wire.kinds import Json

RBAC = "rbac.authorization.k8s.io"
READ = ("get", "list", "watch")
FOLLOW = ("list", "watch")
LABELS = {"app.kubernetes.io/name": "headroom"}


def rule(group: str, resources: tuple[str, ...], verbs: tuple[str, ...]) -> Json:
    return {"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}


def named(
    group: str, resources: tuple[str, ...], verbs: tuple[str, ...], names: tuple[str, ...]
) -> Json:
    """A rule about objects of these names only."""
    return {**rule(group, resources, verbs), "resourceNames": [*names]}


def account(name: str, namespace: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": namespace, "labels": LABELS},
    }


def cluster_role(name: str, rules: list[Json], labels: dict[str, str] | None = None) -> Json:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": {**LABELS, **(labels or {})}},
        "rules": rules,
    }


def role(name: str, namespace: str, rules: list[Json]) -> Json:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "Role",
        "metadata": {"name": name, "namespace": namespace, "labels": LABELS},
        "rules": rules,
    }


def binding(name: str, kind: str, namespace: str, there: str = "") -> Json:
    """Bind the role of this kind to the account of the same name, which lives in `namespace`.

    A Role is one of that namespace, or of the one named by `there`.
    """
    metadata: Json = {"name": name, "labels": LABELS}
    if kind == "Role":
        metadata["namespace"] = there or namespace
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
