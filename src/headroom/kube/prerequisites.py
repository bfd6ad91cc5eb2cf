"""Create what the operator needs before it works: its namespace, PriorityClasses, the claim policy.

`headroom install` installs all of it. An operator that runs against a cluster with only the CRDs
creates what is missing, if it may. If it may not, it logs this and continues, because an
administrator may have installed the rest. Existing objects are not changed. The operator checks
again at intervals, because a PriorityClass or a policy may be deleted.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import msgspec
import structlog

from headroom.core.actions import Done, Gone, Outcome, Taken
from headroom.kube.answers import Answer
from headroom.kube.client import Client
from headroom.kube.errors import KubeError
from headroom.kube.outcomes import outcome_of, outcome_of_trouble
from headroom.wire.installed_kinds import GATE_BINDINGS, GATE_POLICIES
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import NAMESPACES, PRIORITY_CLASSES, Json, Resource
from headroom.wire.manifests import priority_classes
from headroom.wire.policy import policy_objects
from headroom.wire.writes import Write

log = structlog.get_logger("headroom.kube")

LOOK_AGAIN_S = 60.0
NOT_FOUND = 404
POLICIES = {each.kind: each for each in (GATE_POLICIES, GATE_BINDINGS)}
_PREEMPTS = (
    "it exists and its pods preempt, which guardians never do: they use headroom-preemptible "
    "until it is deleted and the operator creates it again at its next start"
)


async def keep_prepared(
    client: Client, namespace: str, codecs: KindCodecs = NATIVE, pause: float = LOOK_AGAIN_S
) -> None:
    """Check again at intervals; only objects that are created again are logged."""
    while True:
        await asyncio.sleep(pause)
        for resource, body in _wanted(namespace, codecs):
            outcome = await _ensure(client, resource, body)
            if isinstance(outcome, Done) and outcome.uid:
                what = f"{resource.kind}/{body['metadata']['name']}"
                log.warning("made_again", what=what, why="somebody had deleted it")


async def prepare(client: Client, namespace: str, codecs: KindCodecs = NATIVE) -> None:
    """Create what is missing; failures are logged with a remedy."""
    preempting: list[str] = []
    for resource, body in _wanted(namespace, codecs):
        outcome = await _ensure(client, resource, body)
        name = body["metadata"]["name"]
        what = f"{resource.kind}/{name}"
        if isinstance(outcome, Gone):
            log.info("not_served", what=resource.kind, hint="headroom install --webhook")
        elif isinstance(outcome, _Preempts):
            preempting.append(name)
            log.warning("class_preempts", what=what, why=_PREEMPTS, hint=f"kubectl delete {what}")
        elif not isinstance(outcome, Done | Taken):
            hint = "headroom install brings it"
            log.warning("not_prepared", what=what, why=outcome.message, hint=hint)
    codecs.avoid(preempting)


def _wanted(namespace: str, codecs: KindCodecs) -> list[tuple[Resource, Json]]:
    home = NAMESPACES.new({"name": namespace})
    policies = policy_objects(codecs.asks, namespace)
    wanted = [(NAMESPACES, home)]
    wanted += [(PRIORITY_CLASSES, item) for item in (*priority_classes(), *codecs.classes())]
    wanted += [(POLICIES[item["kind"]], item) for item in policies]
    for item in codecs.objects():
        found = codecs.find_kind(item["apiVersion"], item["kind"])
        wanted += [(found, item)] if found is not None else []
    return wanted


class _PriorityClass(msgspec.Struct):
    policy: str = msgspec.field(name="preemptionPolicy", default="PreemptLowerPriority")


@dataclass(frozen=True, slots=True)
class _Preempts:
    """The PriorityClass for guardians exists, and its pods would preempt."""


def _judged_class(wanted: Json, found: bytes) -> Done | _Preempts:
    there = msgspec.json.decode(found, type=_PriorityClass).policy
    if wanted.get("preemptionPolicy") != "Never" or there == "Never":
        return Done()
    return _Preempts()


def _names_an_object(answer: Answer) -> bool:
    """Whether a refusal names an object; a refusal because of an unserved kind names none.

    Without permission to create a kind, the refusal comes before the check whether it is served.
    """
    details = answer.read_status().details
    return answer.status != NOT_FOUND or (details is not None and bool(details.name))


async def _ensure(client: Client, resource: Resource, body: Json) -> Outcome | _Preempts:
    """Create an object unless it exists."""
    metadata = body["metadata"]
    namespace = metadata.get("namespace", "")
    write = Write("create", resource, namespace, "", body)
    try:
        there = await client.send("GET", resource.path(namespace, metadata["name"]))
        if there.ok:
            return _judged_class(body, there.body) if resource == PRIORITY_CLASSES else Done()
        if resource in POLICIES.values() and not _names_an_object(there):
            return Gone("the cluster does not serve this kind")
        answer = await client.send("POST", write.path, msgspec.json.encode(body))
    except KubeError as error:
        return outcome_of_trouble(error)
    return outcome_of(write, answer)
