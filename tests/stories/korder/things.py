"""Orders, Tickets and what became of them, in a few words."""

from __future__ import annotations

from typing import Any

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import NAMESPACE, Json, pod
from tests.stories.world import World

API = "core.korder.dev/v1alpha1"


def order(name: str = "web", cpu: str | int = 1, **spec: Any) -> Json:
    """An Order of tickets with so much cpu; `ticket` adds to their spec, `labels` and
    `annotations` to what they carry.
    """
    shape = {"duration": "24h", "resources": {"requests": {"cpu": str(cpu)}}}
    template: Json = {"spec": {**shape, **spec.pop("ticket", {})}}
    metadata = {key: spec.pop(key) for key in ("labels", "annotations") if key in spec}
    if metadata:
        template["metadata"] = metadata
    return {
        "apiVersion": API,
        "kind": "Order",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"template": template, **spec},
    }


def ticket(name: str = "solo", cpu: str | int = 1, **spec: Any) -> Json:
    """A Ticket that somebody wrote by hand; `metadata` adds to what it carries."""
    metadata = {"name": name, "namespace": NAMESPACE, **spec.pop("metadata", {})}
    shape = {"resources": {"requests": {"cpu": str(cpu)}}}
    return {"apiVersion": API, "kind": "Ticket", "metadata": metadata, "spec": {**shape, **spec}}


def asking(name: str, request: str = "", cpu: str | int = 1, **more: Any) -> Json:
    """A gated pod that asks for a ticket: `request` as ticket-request, or other annotations."""
    told = {f"korder.dev/{key}": value for key, value in more.pop("asks", {}).items()}
    if request:
        told["korder.dev/ticket-request"] = request
    return pod(name, cpu=cpu, gated=True, annotations=told, **more)


def phases(world: World) -> dict[str, str]:
    """Every ticket's phase, by name."""
    found = sorted(world.all("Ticket"), key=lambda item: str(item["metadata"]["name"]))
    return {item["metadata"]["name"]: item.get("status", {}).get("phase", "") for item in found}


def until_phases(world: World, seconds: float = 30, **wanted: str) -> None:
    """Exactly these tickets are there, in these phases; `_` stands for `-`."""
    named = {name.replace("_", "-"): phase for name, phase in wanted.items()}
    world.until(f"tickets {named}", lambda: phases(world) == named, seconds)


def guardians(world: World) -> dict[str, str]:
    """Every guardian's node, by name."""
    return {
        item["metadata"]["name"]: item["spec"].get("nodeName", "")
        for item in world.ours("guardian")
        if "deletionTimestamp" not in item["metadata"]
    }


def writes(world: EmbeddedWorld) -> int:
    """How often the operator has written so far; that it is alive does not count."""
    kinds = [write.resource.kind for _, write, _ in world.sim.writes]
    return len([kind for kind in kinds if kind != "ClaimIndex"])


def failure(world: World, name: str = "web") -> tuple[str, str]:
    """An Order's Failure condition: its status and its message."""
    found = world.condition_of(name, "Failure", of="Order")
    return str(found.get("status", "")), str(found.get("message", ""))
