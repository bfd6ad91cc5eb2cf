"""RBAC objects from few words: rules, roles, their bindings and accounts.

`install.rights` says with them what the operator may do, `install.webhook` what the webhook may.
"""

from __future__ import annotations

from headroom.wire import installed_kinds as kinds
from headroom.wire.kinds import Json

READ = ("get", "list", "watch")
FOLLOW = ("list", "watch")


def rule(group: str, resources: tuple[str, ...], verbs: tuple[str, ...]) -> Json:
    return {"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}


def named(
    group: str, resources: tuple[str, ...], verbs: tuple[str, ...], names: tuple[str, ...]
) -> Json:
    """A rule about objects of these names only."""
    return {**rule(group, resources, verbs), "resourceNames": [*names]}


def account(name: str, namespace: str) -> Json:
    return kinds.ACCOUNTS.new({"name": name, "namespace": namespace, "labels": kinds.LABELS})


def cluster_role(name: str, rules: list[Json], labels: dict[str, str] | None = None) -> Json:
    metadata = {"name": name, "labels": {**kinds.LABELS, **(labels or {})}}
    return kinds.CLUSTER_ROLES.new(metadata, rules=rules)


def role(name: str, namespace: str, rules: list[Json]) -> Json:
    return kinds.ROLES.new(
        {"name": name, "namespace": namespace, "labels": kinds.LABELS}, rules=rules
    )


def binding(name: str, kind: str, namespace: str, there: str = "", to: str = "") -> Json:
    """Bind the role of this kind to an account, which lives in `namespace`.

    A Role is one of that namespace, or of the one named by `there`. The account is `to`, or the
    one with the name of the role.
    """
    metadata: Json = {"name": name, "labels": kinds.LABELS}
    bindings = kinds.CLUSTER_ROLE_BINDINGS
    if kind == "Role":
        metadata["namespace"] = there or namespace
        bindings = kinds.ROLE_BINDINGS
    return bindings.new(
        metadata,
        roleRef={"apiGroup": kinds.RBAC, "kind": kind, "name": name},
        subjects=[{"kind": kinds.ACCOUNTS.kind, "name": to or name, "namespace": namespace}],
    )
