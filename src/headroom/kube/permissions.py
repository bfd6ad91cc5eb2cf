"""Find out which of the operator's permissions are missing, by access reviews.

The API server refuses one request at a time, and an administrator would fix one rule at a time.
After a permanent refusal, this module checks everything that the operator's roles grant
(`wire.install.rights`), so that one message lists all. Every user may check their own permissions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from headroom.kube.client import Client
from headroom.kube.errors import KubeError, RequestForbidden
from headroom.wire.errors import UNREADABLE_JSON
from headroom.wire.install.rights import ACCOUNT

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True, slots=True)
class Permission:
    """One verb on one kind, in one namespace, or in all if that is empty."""

    verb: str
    group: str
    resource: str
    name: str = ""
    namespace: str = ""

    @property
    def thing(self) -> str:
        """What the permission is about, as text."""
        plural, slash, part = self.resource.partition("/")
        kind = f"{plural}.{self.group}" if self.group else plural
        named = f" {self.name}" if self.name else ""
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{kind}{slash}{part}{named}{where}"


class _Decision(msgspec.Struct):
    allowed: bool = False


class _RightsReview(msgspec.Struct):
    status: _Decision


async def all_missing(
    client: Client, refused: RequestForbidden, roles: Iterable[dict[str, Any]]
) -> RequestForbidden:
    """The refusal that ended us, with all other missing permissions of these roles."""
    wanted = list(_needed(roles))
    try:
        allowed = await asyncio.gather(*(_is_allowed(client, right) for right in wanted))
    except (KubeError, *UNREADABLE_JSON):
        return refused  # Then only the first refusal is reported.
    verbs: dict[str, list[str]] = {}
    for right, yes in zip(wanted, allowed, strict=True):
        if not yes:
            verbs.setdefault(right.thing, []).append(right.verb)
    if not verbs:
        return refused
    told = "; ".join(f"{', '.join(each)} {thing}" for thing, each in verbs.items())
    return RequestForbidden(
        refused.status, f"{refused.message}\n  missing rights: {told}", refused.hint
    )


def _needed(roles: Iterable[dict[str, Any]]) -> Iterator[Permission]:
    """The permissions of the operator's own roles, one at a time."""
    for role in roles:
        metadata: dict[str, Any] = role["metadata"]
        if role["kind"] not in ("ClusterRole", "Role") or metadata["name"] != ACCOUNT:
            continue
        for rule in role["rules"]:
            for resource in rule["resources"]:
                for name in rule.get("resourceNames", [""]):
                    for verb in rule["verbs"]:
                        group, where = rule["apiGroups"][0], metadata.get("namespace", "")
                        yield Permission(verb, group, resource, name, where)


async def _is_allowed(client: Client, right: Permission) -> bool:
    resource, _, subresource = right.resource.partition("/")
    attributes = {
        "verb": right.verb,
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "name": right.name,
        "namespace": right.namespace,
    }
    body = msgspec.json.encode({"spec": {"resourceAttributes": attributes}})
    answer = await client.send("POST", REVIEWS, body, repeatable=True)
    if not answer.ok:
        raise KubeError(f"cannot check our permissions: HTTP {answer.status}")
    return msgspec.json.decode(answer.body, type=_RightsReview).status.allowed
