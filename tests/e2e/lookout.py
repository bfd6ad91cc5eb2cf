"""One pair of eyes for a whole test: all pods and holds, looked at several times a second.

Many threads wait for something to become true; if each asked the API server on its own, the asking
would take the processors from those who make it true.
"""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from headroom.wire.kinds import HOLDS, PODS
from testbed.api import Api, ApiFailure, Json
from tests.patience import TookTooLong, deadline_after

PAUSE_S = 0.1
ROLE = "headroom.dev/role"
NO_ANSWER = (ApiFailure, OSError, http.client.HTTPException)


@dataclass(frozen=True)
class Sight:
    """What there is at a moment, by name; names are unique across namespaces in these tests."""

    pods: dict[str, Json] = field(default_factory=dict)
    holds: dict[str, Json] = field(default_factory=dict)

    def phase(self, name: str) -> str:
        return str(self.pods.get(name, {}).get("status", {}).get("phase", ""))

    def node(self, name: str) -> str:
        return str(self.pods.get(name, {}).get("spec", {}).get("nodeName", ""))

    def hold_phase(self, name: str) -> str:
        return str(self.holds.get(name, {}).get("status", {}).get("phase", ""))

    def refused(self, name: str) -> bool:
        """Whether kube-scheduler has tried a pod and found no room."""
        conditions = self.pods.get(name, {}).get("status", {}).get("conditions", ())
        return any(
            item["type"] == "PodScheduled" and item["status"] == "False" for item in conditions
        )

    def ours(self, role: str) -> list[str]:
        return sorted(
            name
            for name, item in self.pods.items()
            if item["metadata"].get("labels", {}).get(ROLE) == role
        )

    def gated(self) -> list[str]:
        """Pods that still carry a gate of ours."""
        return sorted(
            name
            for name, item in self.pods.items()
            for gate in item["spec"].get("schedulingGates", ())
            if gate["name"].startswith("headroom.dev/")
        )

    def __str__(self) -> str:
        lines = []
        for name, item in sorted(self.pods.items()):
            gates = [gate["name"] for gate in item["spec"].get("schedulingGates", ())]
            status = item.get("status", {})
            lines.append(
                f"pod {name}: {status.get('phase')} {status.get('reason', '')} on "
                f"{item['spec'].get('nodeName')}, nominated {status.get('nominatedNodeName')}, "
                f"gates {gates}, {item['metadata'].get('annotations', {})}"
            )
        lines += [f"hold {name}: {self.hold_phase(name)}" for name in sorted(self.holds)]
        return "\n".join(lines)


class Lookout:
    """Looks until closed; an API server that does not answer is asked again."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._sight = Sight()
        self._news = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def until(self, what: str, true: Callable[[Sight], bool], seconds: float = 60) -> Sight:
        """Wait until something is true of what is seen from now on."""
        deadline = deadline_after(seconds)
        with self._news:
            self._news.wait(2 * PAUSE_S)  # What was seen before may be from before the last write.
            while not true(self._sight):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TookTooLong(f"waited too long: {what}\n{self._sight}")
                self._news.wait(min(left, 1.0))
            return self._sight

    @property
    def seen(self) -> Sight:
        """What was seen last."""
        return self._sight

    def close(self) -> None:
        self._closed = True
        self._thread.join(30)

    def _look(self) -> None:
        while not self._closed:
            with contextlib.suppress(*NO_ANSWER):
                pods = {item["metadata"]["name"]: item for item in self._api.items(PODS.path())}
                holds = {item["metadata"]["name"]: item for item in self._api.items(HOLDS.path())}
                with self._news:
                    self._sight = Sight(pods, holds)
                    self._news.notify_all()
            time.sleep(PAUSE_S)
        self._api.close()
