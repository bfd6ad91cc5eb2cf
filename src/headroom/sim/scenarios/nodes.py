"""The initial nodes of a scenario, for commands that do not run it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.sim.api.nodes import registered
from headroom.sim.api.values import put
from headroom.sim.scenarios.parser import Known, pool_from
from headroom.wire.kind_codecs import NATIVE
from headroom.wire.schema.validation import check
from headroom.wire.yamls import Document

READY = {"type": "Ready", "status": "True", "reason": "KubeletReady"}


def nodes_at_the_start(document: Document) -> tuple[list[Mapping[str, Any]], list[str]]:
    """The Node objects of all pools, ready for pods; or what is wrong with the scenario."""
    problems = [str(error) for error in check(document, Known.by(NATIVE).catalogue)]
    if problems:
        return [], problems
    pools = [pool_from(given) for given in (document.data.get("spec") or {}).get("pools") or ()]
    nodes = [pool.node(index) for pool in pools for index in range(pool.count)]
    return [put(registered(node), [READY], "status", "conditions") for node in nodes], []
