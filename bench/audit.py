"""Count writes by client, from the API server's audit log.

The API server's metrics do not distinguish clients, so the audit log is used: one line for each
write, with the user and the user agent, and no line for reads. Leases of nodes are left out:
thousands of fake nodes renew theirs all the time. The operator uses the same token as the other
controllers, because an API server checks a certificate again at each request; the benchmark, whose
client has the same name, uses a certificate. `--no-audit` of `pernode` shows the cost of the log
itself.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

BENCH_USER = "bench"
BENCH = "bench"
OPERATOR = "operator"
DAEMONSETS = "daemonset controller"
_DAEMONSET_AGENT = "daemon-set-controller"
_OUR_AGENT = "headroom/"
_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [
        {"level": "None", "verbs": ["get", "list", "watch"]},
        # Access reviews are POSTs, but change nothing.
        {
            "level": "None",
            "resources": [{"group": "authorization.k8s.io"}, {"group": "authentication.k8s.io"}],
        },
        {
            "level": "None",
            "namespaces": ["kube-node-lease"],
            "resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}],
        },
        {"level": "Metadata"},
    ],
}


@dataclass(frozen=True)
class Written:
    """One write request, also a refused one."""

    client: str
    verb: str
    what: str  # such as pods, pods/binding
    code: int
    namespace: str = ""
    name: str = ""
    began: float = 0.0  # when the API server received it and had done it, in seconds
    ended: float = 0.0

    @property
    def is_lease(self) -> bool:
        return self.what == "leases"


@dataclass
class AuditLog:
    """The log of one API server, read from the end of the last reading."""

    path: Path
    _offset: int = field(default=0, init=False)

    def new(self) -> list[Written]:
        """Every write logged since the last call; an incomplete line is left for later."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as log:
            log.seek(self._offset)
            text = log.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        return [read_line(line) for line in whole.splitlines()]


def start(folder: Path) -> tuple[AuditLog, tuple[str, ...]]:
    """Prepare a log in this folder; return it with the API server's flags for it."""
    policy, log = folder / "audit-policy.json", folder / "audit.log"
    policy.write_text(json.dumps(_POLICY))
    flags = (
        f"--audit-policy-file={policy}",
        f"--audit-log-path={log}",
        "--audit-log-mode=batch",  # Requests do not wait until their line is written.
        "--audit-log-maxsize=10000",  # Megabytes: lines of a rotated log would not be counted.
    )
    return AuditLog(log), flags


def read_line(line: bytes) -> Written:
    """Parse one line of the log."""
    event: dict[str, Any] = json.loads(line)
    target = event.get("objectRef", {})
    parts = (target.get("resource", ""), target.get("subresource", ""))
    return Written(
        client=client_name(event["user"]["username"], event.get("userAgent", "")),
        verb=event["verb"],
        what="/".join(part for part in parts if part),
        code=event.get("responseStatus", {}).get("code", 0),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        began=_seconds(event.get("requestReceivedTimestamp")),
        ended=_seconds(event.get("stageTimestamp")),
    )


def _seconds(time: str | None) -> float:
    return datetime.fromisoformat(time).timestamp() if time else 0.0


def client_name(user: str, agent: str) -> str:
    """A short name for a client: our operator, the DaemonSet controller, or a program."""
    if user == BENCH_USER:
        return BENCH
    if agent.startswith(_OUR_AGENT):
        return OPERATOR
    if agent.endswith(_DAEMONSET_AGENT):
        return DAEMONSETS
    return agent.partition("/")[0] or BENCH


def kinds_of_writes(writes: Iterable[Written], client: str) -> Counter[str]:
    """What a client wrote, by verb and resource; without Leases, with refusals marked."""
    return Counter(
        f"{write.verb} {write.what}" + (f" ({write.code})" if write.code >= 400 else "")
        for write in writes
        if write.client == client and not write.is_lease
    )
