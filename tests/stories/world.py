"""The world of a story: apply things, let time pass, and see what became of them.

Two worlds tell the same stories: the embedded cluster, where a minute takes milliseconds, and a
real control plane. A story never knows in which of them it is told.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from tests.stories.things import NAMESPACE, Json

ROLE = "headroom.dev/role"
CLAIMED = "headroom.dev/claimed"
CLAIMED_SLOT = "headroom.dev/claimed-slot"
SLOT = "headroom.dev/slot"
USERS = "headroom.dev/users"
PARENT = "headroom.dev/parent"
CLAIMS = "headroom.dev/claims"


class World(ABC):
    """What a story may do and see."""

    @abstractmethod
    def add_node(self, name: str, cpu: int = 4, memory: str = "16Gi", **more: Any) -> None: ...

    @abstractmethod
    def add_quiet_node(self, name: str, cpu: int = 4, pods: int = 110) -> None:
        """Add a node whose pods stay Pending, as one does whose volume is not mounted yet."""

    @abstractmethod
    def rouse(self, node: str) -> None:
        """Let the pods run that are on a quiet node by now."""

    @abstractmethod
    def apply(self, *things: Json) -> None: ...

    @abstractmethod
    def delete(self, kind: str, name: str, namespace: str = NAMESPACE) -> None: ...

    @abstractmethod
    def patch(self, kind: str, name: str, change: Json, namespace: str = NAMESPACE) -> None: ...

    @abstractmethod
    def set_status(self, kind: str, name: str, status: Json, namespace: str = NAMESPACE) -> None:
        """Write a part of a status, as its controller would."""

    @abstractmethod
    def finish(self, name: str, phase: str = "Succeeded", namespace: str = NAMESPACE) -> None:
        """Let a running pod come to its end."""

    @abstractmethod
    def scale(self, kind: str, name: str, replicas: int, namespace: str = NAMESPACE) -> None:
        """Ask for so many through the scale subresource, as kubectl and autoscalers do."""

    @abstractmethod
    def evict(self, name: str, namespace: str = NAMESPACE) -> bool:
        """Ask the eviction API to end a pod, as `kubectl drain` does; False: a budget says no."""

    @abstractmethod
    def blink(self, node: str) -> None:
        """Let a node be unready for a moment."""

    @abstractmethod
    def on_look(self, look: Callable[[], None]) -> None:
        """Have this done at each change of a pod, or as often as a real cluster can be asked."""

    @abstractmethod
    def all(self, kind: str) -> list[Json]: ...

    @abstractmethod
    def start_operator(self, **settings: Any) -> None: ...

    @abstractmethod
    def kill_operator(self) -> None:
        """End it at once, wherever it is."""

    @abstractmethod
    def cut_operator_after(self, writes: int, backwards: bool = False) -> None:
        """Let the operator make so many more writes that matter, then none (see `cutting`)."""

    @abstractmethod
    def operator_is_cut(self) -> bool: ...

    @abstractmethod
    def slow_operator(self, seconds: float) -> None:
        """From now on let every write of the operator be so much later."""

    @abstractmethod
    def pass_time(self, seconds: float) -> None: ...

    @abstractmethod
    def until(self, what: str, true: Callable[[], bool], seconds: float = 30) -> None:
        """Let time pass until something is true; a story that waits in vain has failed."""

    @abstractmethod
    def picture(self) -> str:
        """What a failed story shows."""

    @abstractmethod
    def close(self) -> None:
        """Take away what the story made."""

    def get(self, kind: str, name: str, namespace: str = NAMESPACE) -> Json | None:
        for item in self.all(kind):
            metadata = item["metadata"]
            if metadata["name"] == name and metadata.get("namespace", namespace) == namespace:
                return item
        return None

    def node_of(self, name: str, namespace: str = NAMESPACE) -> str:
        found = self.get("Pod", name, namespace)
        return str(found["spec"].get("nodeName", "")) if found else ""

    def claim_of(self, name: str, namespace: str = NAMESPACE) -> str:
        found = self.get("Pod", name, namespace)
        return str(found["metadata"].get("annotations", {}).get(CLAIMED, "")) if found else ""

    def phase_of_hold(self, name: str, namespace: str = NAMESPACE) -> str:
        found = self.get("Hold", name, namespace)
        return str(found.get("status", {}).get("phase", "")) if found else ""

    def condition_of(self, name: str, kind: str = "Ready", of: str = "Hold") -> Json:
        found = self.get(of, name) or {}
        conditions = found.get("status", {}).get("conditions", [])
        return next((item for item in conditions if item["type"] == kind), {})

    def status(self, name: str, kind: str = "Headroom") -> Json:
        found = self.get(kind, name) or {}
        return dict(found.get("status", {}))

    def slots(self, name: str, namespace: str = NAMESPACE) -> dict[str, list[Json]]:
        """The guardians of a headroom by slot, those apart that are on their way out."""
        found: dict[str, list[Json]] = {}
        for item in self.ours("guardian"):
            notes = item["metadata"].get("annotations", {})
            alive = "deletionTimestamp" not in item["metadata"]
            if alive and notes.get(PARENT) == f"Headroom/{namespace}/{name}":
                found.setdefault(notes[SLOT], []).append(item)
        return found

    def held(self, name: str, namespace: str = NAMESPACE) -> dict[str, str]:
        """Where each slot of a headroom is held; slots without a node are left out."""
        places = {
            slot: sorted(each["spec"]["nodeName"] for each in guardians if _placed(each))
            for slot, guardians in sorted(self.slots(name, namespace).items())
        }
        return {slot: nodes[0] for slot, nodes in places.items() if nodes}

    def until_slots(self, name: str, *slots: str, seconds: float = 30) -> None:
        """Exactly these slots are held, each by one guardian, and the status says so."""

        def so() -> bool:
            status = self.status(name)
            told = (status.get("desired", 0), status.get("held", 0))
            return (
                sorted(self.held(name)) == sorted(slots)
                and all(len(each) == 1 for each in self.slots(name).values())
                and told == (len(slots), len(slots))
            )

        self.until(f"slots {', '.join(slots) or '(none)'} of {name} held", so, seconds)

    def running(self, name: str, namespace: str = NAMESPACE) -> bool:
        found = self.get("Pod", name, namespace)
        return found is not None and found.get("status", {}).get("phase") == "Running"

    def ours(self, role: str) -> list[Json]:
        """Pods of ours by role."""
        return [
            item for item in self.all("Pod") if item["metadata"].get("labels", {}).get(ROLE) == role
        ]

    def events(self, reason: str, name: str) -> list[Json]:
        return [
            item
            for item in self.all("Event")
            if item["reason"] == reason and item["involvedObject"]["name"] == name
        ]

    def until_held(self, *names: str) -> None:
        self.until(
            f"holds {', '.join(names)} available",
            lambda: all(self.phase_of_hold(name) == "Available" for name in names),
        )

    def until_runs(self, name: str, on: str = "", seconds: float = 30) -> None:
        self.until(
            f"pod {name} runs" + (f" on {on}" if on else ""),
            lambda: self.running(name) and on in ("", self.node_of(name)),
            seconds,
        )

    def until_nothing_is_left(self) -> None:
        """No latch stands, but by which a hold keeps what its owner uses; no gate of ours waits."""
        self.until(
            "no latch and no gate left",
            lambda: (
                not any(not keeps_claim(item) for item in self.ours("latch"))
                and not any(
                    gate["name"].startswith("headroom.dev/")
                    for item in self.all("Pod")
                    if item["metadata"].get("labels", {}).get(ROLE) != "latch"
                    for gate in item["spec"].get("schedulingGates", ())
                )
            ),
        )


def keeps_claim(latch: Json) -> bool:
    """Whether a latch stands for a hold itself, and not for an owner on its way into it."""
    notes = latch["metadata"].get("annotations", {})
    return (SLOT in notes or USERS in notes) and CLAIMS not in notes


def _placed(guardian: Json) -> bool:
    ended = guardian.get("status", {}).get("phase") in ("Succeeded", "Failed")
    return bool(guardian["spec"].get("nodeName")) and not ended
