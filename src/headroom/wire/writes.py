"""One write to a cluster as plain data: what to send, where, and how to read a refusal.

`render` makes these, the adapters send them: `kube` over HTTP, `sim` straight into its store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from headroom.core.fast_dataclass import dataclass
from headroom.wire.kinds import Resource

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

Verb = Literal["create", "patch", "delete"]
_METHODS: dict[Verb, str] = {"create": "POST", "patch": "PATCH", "delete": "DELETE"}


@dataclass(frozen=True, slots=True)
class Write:
    """A request that will be sent.

    `name` is empty when an object is created (its name is in the body), except for a subresource
    such as `binding`. `guarded`: the body itself says which object is meant (by uid or a JSON
    patch test), so 422 means that it is another one by now, not that the body is wrong.
    """

    verb: Verb
    resource: Resource
    namespace: str
    name: str
    body: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    subresource: str = ""
    content_type: str = JSON
    query: tuple[tuple[str, str], ...] = ()
    guarded: bool = False

    @property
    def method(self) -> str:
        return _METHODS[self.verb]

    @property
    def path(self) -> str:
        return self.resource.path(self.namespace, self.name, self.subresource)
