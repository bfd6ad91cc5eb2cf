"""The audit log tells our operator, the DaemonSet controller and everybody else apart."""

from __future__ import annotations

import json
from pathlib import Path

from bench.audit import (
    BENCH,
    BENCH_USER,
    DAEMONSETS,
    OPERATOR,
    AuditLog,
    kinds_of_writes,
    read_line,
    start,
)

OURS = "headroom/0.1.0"
MANAGER = "kube-controller-manager/v1.36.4 (linux/amd64) kubernetes/abc"


def line(user: str, agent: str, verb: str = "create", what: str = "pods", code: int = 201) -> bytes:
    resource, _, subresource = what.partition("/")
    target = {"resource": resource, "subresource": subresource, "name": "a", "namespace": "shop"}
    event = {
        "user": {"username": user},
        "userAgent": agent,
        "verb": verb,
        "objectRef": target,
        "responseStatus": {"code": code},
    }
    return json.dumps(event).encode() + b"\n"


def test_clients_are_told_apart_by_user_and_agent() -> None:
    lines = (
        line("admin", OURS),
        line(BENCH_USER, OURS),
        line("admin", f"{MANAGER}/daemon-set-controller"),
        line("admin", f"{MANAGER}/node-controller"),
        line("system:kube-scheduler", "kube-scheduler/v1.36.4 (linux/amd64)"),
        line("admin", ""),
    )
    assert [read_line(text).client for text in lines] == [
        OPERATOR,
        BENCH,
        DAEMONSETS,
        "kube-controller-manager",
        "kube-scheduler",
        BENCH,
    ]


def test_a_line_says_what_was_written() -> None:
    written = read_line(line("admin", "kwok/v0.8.0", "patch", "pods/status", 200))
    assert (written.verb, written.what, written.code) == ("patch", "pods/status", 200)
    assert (written.namespace, written.name) == ("shop", "a")


def test_each_write_is_read_once_and_half_a_line_later(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log")
    assert log.new() == []
    whole = line("admin", OURS)
    log.path.write_bytes(whole + whole[:20])
    assert len(log.new()) == 1
    log.path.write_bytes(whole + whole)
    assert len(log.new()) == 1
    assert log.new() == []


def test_leases_do_not_count_and_refusals_are_marked() -> None:
    writes = [
        read_line(text)
        for text in (
            line("admin", OURS),
            line("admin", OURS),
            line("admin", OURS, "create", "pods", 409),
            line("admin", OURS, "update", "leases", 200),
            line("admin", "kwok/v0.8.0", "patch", "pods/status", 200),
        )
    ]
    assert kinds_of_writes(writes, OPERATOR) == {"create pods": 2, "create pods (409)": 1}


def test_the_policy_logs_no_read_and_no_lease_of_a_node(tmp_path: Path) -> None:
    _, flags = start(tmp_path)
    policy = json.loads((tmp_path / "audit-policy.json").read_text())
    silent = [rule for rule in policy["rules"] if rule["level"] == "None"]
    assert silent[0]["verbs"] == ["get", "list", "watch"]
    assert any("leases" in str(rule) for rule in silent)
    assert any(flag.startswith("--audit-log-path=") for flag in flags)
