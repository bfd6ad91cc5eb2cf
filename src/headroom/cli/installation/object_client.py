"""Apply objects to a real cluster and delete them, one after the other.

An installation has few kinds, so their API paths are a table and need no discovery. A kind that
this cluster does not serve (the admission policy, before 1.36) is reported and skipped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from headroom.cli.formats.progress import waiting
from headroom.cli.output import say
from headroom.kube.answers import Answer, refusal
from headroom.kube.client import Client
from headroom.kube.cluster import KubeCluster
from headroom.kube.errors import NoSuchKind
from headroom.kube.kubeconfig import find_access
from headroom.kube.versions import read_version, trouble_with
from headroom.wire.installed_kinds import INSTALLED
from headroom.wire.kinds import Json

FIELD_MANAGER = "headroom-install"
APPLY = "application/apply-patch+yaml"
_BY_KIND = {(resource.api_version, resource.kind): resource for resource in INSTALLED}


def path_of(item: Json) -> str:
    """The API path of an object; KeyError for a kind that no installation has."""
    resource = _BY_KIND[item["apiVersion"], item["kind"]]
    metadata = item["metadata"]
    return resource.path(metadata.get("namespace", ""), metadata["name"])


async def apply_all(
    objects: Sequence[Json], kubeconfig: str, context: str, dry: bool = False
) -> None:
    """Apply objects in order and report each; `dry`: the server only checks them."""
    query = f"?fieldManager={FIELD_MANAGER}&force=true" + ("&dryRun=All" if dry else "")
    async with Client(find_access(kubeconfig, context)) as client:
        with waiting(f"asking {client.access.endpoint.server}"):
            trouble = trouble_with(read_version(await KubeCluster(client).probe()))
        if trouble:
            say(f"warning: {trouble}")
        for number, item in enumerate(objects):
            path = path_of(item) + query
            body = json.dumps(item).encode()
            with waiting(_doing("applying", item, number, len(objects))):
                answer = await client.send("PATCH", path, body, APPLY, repeatable=True)
            _tell(item, answer, "applied", dry)


async def delete_all(
    objects: Sequence[Json], kubeconfig: str, context: str, dry: bool = False
) -> None:
    """Delete objects in order; missing objects are fine. `dry`: the server only checks."""
    async with Client(find_access(kubeconfig, context)) as client:
        for number, item in enumerate(objects):
            path = path_of(item) + ("?dryRun=All" if dry else "")
            with waiting(_doing("deleting", item, number, len(objects))):
                answer = await client.send("DELETE", path, repeatable=True)
            _tell(item, answer, "deleted", dry)


def _doing(what: str, item: Json, number: int, count: int) -> str:
    return f"{what} {item['kind']}/{item['metadata']['name']}: {number + 1} of {count}"


def _tell(item: Json, answer: Answer, done: str, dry: bool) -> None:
    name = f"{item['kind']}/{item['metadata']['name']}"
    if answer.ok:
        say(f"{name} {done}" + (" (server dry run)" if dry else ""))
        return
    trouble = refusal(answer, f"have {name} {done}")
    if not isinstance(trouble, NoSuchKind):
        raise trouble
    status = answer.read_status()
    if dry and status.details is not None and status.details.kind == "namespaces":
        say(f"{name}: not checked, because its namespace does not exist yet")
    elif done == "deleted":
        say(f"{name}: not there")
    else:
        say(f"{name}: this cluster has no such kind")
