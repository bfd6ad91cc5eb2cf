"""What must stand before the operator can work: its namespace, PriorityClasses, the claim policy.

`headroom install` brings all of it. An operator that is just run against a cluster with the CRDs
makes what is missing, if it may; if it may not, it says so and goes on, since an administrator
may have brought the rest. Nothing that exists is changed.
"""

from __future__ import annotations

from typing import Any

import msgspec
import structlog

from headroom.core.actions import Done, Gone, Outcome, Taken
from headroom.kube.client import Client
from headroom.kube.errors import KubeError
from headroom.kube.outcomes import outcome_of, outcome_of_trouble
from headroom.wire.kinds import NAMESPACES, PRIORITY_CLASSES, Resource
from headroom.wire.manifests import priority_classes
from headroom.wire.policy import policy_objects
from headroom.wire.speech import NATIVE, Speech
from headroom.wire.writes import Write

Json = dict[str, Any]

log = structlog.get_logger("headroom.kube")

POLICY_GROUP = ("admissionregistration.k8s.io", "v1")
POLICIES = {
    "MutatingAdmissionPolicy": Resource(
        *POLICY_GROUP, "mutatingadmissionpolicies", "MutatingAdmissionPolicy", namespaced=False
    ),
    "MutatingAdmissionPolicyBinding": Resource(
        *POLICY_GROUP,
        "mutatingadmissionpolicybindings",
        "MutatingAdmissionPolicyBinding",
        namespaced=False,
    ),
}


async def prepare(client: Client, namespace: str, speech: Speech = NATIVE) -> None:
    """Make what is missing; what cannot be made is logged with the way out."""
    home: Json = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    policies = policy_objects(speech.asks, namespace)
    wanted = [(NAMESPACES, home)]
    wanted += [(PRIORITY_CLASSES, item) for item in (*priority_classes(), *speech.classes())]
    wanted += [(POLICIES[item["kind"]], item) for item in policies]
    for item in speech.objects():
        found = speech.find_kind(item["apiVersion"], item["kind"])
        wanted += [(found, item)] if found is not None else []
    for resource, body in wanted:
        outcome = await _ensure(client, resource, body)
        what = f"{resource.kind}/{body['metadata']['name']}"
        if isinstance(outcome, Gone):
            log.info("not_served", what=resource.kind, hint="headroom install --webhook")
        elif not isinstance(outcome, Done | Taken):
            hint = "headroom install brings it"
            log.warning("not_prepared", what=what, why=outcome.message, hint=hint)


async def _ensure(client: Client, resource: Resource, body: Json) -> Outcome:
    """Create an object unless it is there."""
    metadata = body["metadata"]
    namespace = metadata.get("namespace", "")
    write = Write("create", resource, namespace, "", body)
    try:
        there = await client.send("GET", resource.path(namespace, metadata["name"]))
        if there.ok:
            return Done()
        answer = await client.send("POST", write.path, msgspec.json.encode(body))
    except KubeError as error:
        return outcome_of_trouble(error)
    return outcome_of(write, answer)
