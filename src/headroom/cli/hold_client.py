"""Build a Hold from flags, create it in a cluster, and delete it.

The manifest is built and checked here, so a mistake is reported before anything is sent; `reserve`
defines the flags.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headroom.cli.errors import Misuse, NegativeAnswer
from headroom.cli.formats.progress import span, waiting
from headroom.core.conditions import ready_in
from headroom.core.objects import Key
from headroom.kube.answers import Answer, refusal
from headroom.kube.client import Client
from headroom.kube.kubeconfig import find_access
from headroom.wire.kinds import HOLDS, Json
from headroom.wire.objects.holds import hold_from
from headroom.wire.schema.lint import odd_parts
from headroom.wire.schema.own import known
from headroom.wire.schema.validation import validate

LOOK_EVERY = 0.1
DRY = "?dryRun=All"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class HoldFlags:
    """The values of the flags."""

    key: Key
    requests: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    pods: tuple[str, ...] = ()
    ttl: str = ""
    node: str = ""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Json, ...] = ()
    reusable: bool = False


@dataclass(frozen=True, slots=True)
class Stand:
    """The state of a hold: its phase, its node, and why it has none."""

    phase: str = ""
    node: str = ""
    why: str = ""
    item: Json = field(default_factory=dict)


def pairs(texts: Iterable[str], flag: str) -> dict[str, str]:
    """Parse the KEY=VALUE texts of one flag."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise Misuse(f"{flag} {text}: write KEY=VALUE")
        found[key] = value
    return found


def tolerations(texts: Iterable[str]) -> tuple[Json, ...]:
    """Parse tolerated taints, in the syntax of `kubectl taint`."""
    return tuple(_toleration(text) for text in texts)


def _toleration(text: str) -> Json:
    taint, colon, effect = text.partition(":")
    key, equals, value = taint.partition("=")
    if not key or (colon and effect not in EFFECTS):
        hint = f"write KEY, KEY=VALUE or KEY=VALUE:EFFECT; effects: {', '.join(EFFECTS)}"
        raise Misuse(f"--toleration {text}: this is not a taint", hint)
    found: Json = {"key": key, "operator": "Equal" if equals else "Exists"}
    if equals:
        found["value"] = value
    return {**found, "effect": effect} if effect else found


def hold_manifest(asked: HoldFlags) -> Json:
    """Build the Hold as a manifest; raise Misuse if a value is wrong."""
    if not asked.requests:
        raise Misuse("nothing to hold: set --cpu, --memory or --request")
    if not asked.labels and not asked.pods:
        raise Misuse("no pod could claim it: set --owner KEY=VALUE or --pod NAME")
    container = {"name": "main", "resources": {"requests": dict(asked.requests)}}
    pod: Json = {"containers": [container]}
    if asked.node:
        pod["nodeName"] = asked.node
    if asked.node_selector:
        pod["nodeSelector"] = dict(asked.node_selector)
    if asked.tolerations:
        pod["tolerations"] = list(asked.tolerations)
    spec: Json = {"template": {"spec": pod}, "owners": _owners(asked)}
    if asked.ttl:
        spec["ttl"] = asked.ttl
    if asked.reusable:
        spec["allocateOnce"] = False
    metadata = {"name": asked.key.name, "namespace": asked.key.namespace}
    manifest = HOLDS.new(metadata, spec=spec)
    problems = validate(manifest, HOLDS.kind, known()) or [
        *hold_from(manifest).problems,
        *odd_parts(manifest),
    ]
    if problems:
        raise Misuse("\n".join(str(problem) for problem in problems))
    return manifest


def _owners(asked: HoldFlags) -> list[Json]:
    owners: list[Json] = []
    if asked.labels:
        owners.append({"labelSelector": {"matchLabels": dict(asked.labels)}})
    return [*owners, *({"object": {"name": name}} for name in asked.pods)]


def made(manifest: Json, access: tuple[str, str], patience: float, dry: bool) -> Stand:
    """Create the hold and, if requested, wait until it is held or the timeout is over."""

    async def act() -> Stand:
        async with Client(find_access(*access)) as client:
            return await _make(manifest, client, patience, dry)

    return asyncio.run(act())


async def _make(manifest: Json, client: Client, patience: float, dry: bool) -> Stand:
    metadata = manifest["metadata"]
    path = HOLDS.path(metadata["namespace"]) + (DRY if dry else "")
    with waiting(f"asking {client.access.endpoint.server}"):
        answer = await client.send("POST", path, json.dumps(manifest).encode())
    if answer.status == 409:
        raise NegativeAnswer(
            f"hold {metadata['name']} already exists in namespace {metadata['namespace']}",
            f"headroom explain hold/{metadata['name']}",
        )
    if not answer.ok:
        raise refusal(answer, f"make hold {metadata['name']}")
    stand = _stand(json.loads(answer.body))
    if dry or not patience:
        return stand
    with waiting(_still(metadata["name"], stand, patience)) as progress:
        loop = asyncio.get_running_loop()
        give_up = loop.time() + patience
        while stand.phase in ("", "Pending") and loop.time() < give_up:
            await asyncio.sleep(LOOK_EVERY)
            path = HOLDS.path(metadata["namespace"], metadata["name"])
            stand = _stand(json.loads(await client.get(path, "see the hold")))
            progress.tell(_still(metadata["name"], stand, give_up - loop.time()))
    return stand


def _still(name: str, stand: Stand, seconds: float) -> str:
    """What the command waits for, and how long at most."""
    why = stand.why or (
        "its guardian has no node yet" if stand.phase else "no operator has seen it"
    )
    return f"hold {name} is not held yet: {why}; at most {span(max(seconds, 0.0))} more"


def _stand(item: Json) -> Stand:
    status = hold_from(item).status
    ready = ready_in(status.conditions)
    return Stand(status.phase, status.node, ready.message if ready is not None else "", item)


def unmade(key: Key, access: tuple[str, str], dry: str) -> bool:
    """Delete a hold, or only check whether it can be deleted; return False if it does not exist."""
    method = "GET" if dry == "client" else "DELETE"
    path = HOLDS.path(key.namespace, key.name) + (DRY if dry == "server" else "")

    async def act() -> Answer:
        async with Client(find_access(*access)) as client:
            return await client.send(method, path, repeatable=True)

    answer = asyncio.run(act())
    if answer.status == 404:
        return False
    if not answer.ok:
        raise refusal(answer, f"delete hold {key}")
    return True
