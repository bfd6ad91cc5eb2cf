"""Core values for tests, in one short line each: everything has a default, nothing is random.

`node("a", cpu=4)`, `pod("x", cpu="500m", labels={"app": "web"})`, `hold("h", cpu=2, owners="web")`.
Amounts are written as in a manifest: text or number, CPU in cores.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from headroom.core.amounts import amount, parse_resources
from headroom.core.holds import Hold, OwnerRule, PodTemplate
from headroom.core.names import API_VERSION
from headroom.core.objects import (
    Key,
    LabelSelector,
    Node,
    NodeAffinity,
    NodeTerm,
    Parent,
    Placement,
    Pod,
    Requirement,
    Taint,
    Toleration,
)
from headroom.core.requests import ContainerNeed, PodNeed, nonzero_requests
from headroom.core.resources import Resources

Amount = str | int | float
NAMESPACE = "default"
NOON = datetime(2027, 1, 4, 12, 0, tzinfo=UTC)


def resources(cpu: Amount = 0, memory: Amount = 0, **others: Amount) -> Resources:
    """A vector of amounts; `pods=110`, `**{"example.com/gpu": 1}` for the others."""
    return parse_resources({"cpu": cpu, "memory": memory, **others})


def node(
    name: str,
    cpu: Amount = 4,
    memory: Amount = "16Gi",
    pods: int = 110,
    **parts: Any,
) -> Node:
    """A ready node that carries its own name as hostname label; `labels` come on top."""
    labels = {"kubernetes.io/hostname": name, **parts.pop("labels", {})}
    more: Mapping[str, Amount] = parts.pop("more", {})
    return Node(
        name=name,
        uid=parts.pop("uid", f"uid-of-{name}"),
        labels=labels,
        taints=tuple(parts.pop("taints", ())),
        allocatable=resources(cpu, memory, pods=pods, **more),
        **parts,
    )


def pod(name: str, cpu: Amount | None = None, memory: Amount | None = None, **parts: Any) -> Pod:
    """A pending pod with one container; what of `cpu` and `memory` is None it leaves open."""
    asked = {"cpu": cpu, "memory": memory, **parts.pop("more", {})}
    need = _need({key: value for key, value in asked.items() if value is not None})
    return Pod(
        key=Key(parts.pop("namespace", NAMESPACE), name),
        uid=parts.pop("uid", f"uid-of-{name}"),
        requests=Resources(need.containers[0].requests),
        nonzero_requests=nonzero_requests(need),
        created=parts.pop("created", NOON),
        **parts,
    )


def _need(asked: Mapping[str, Amount]) -> PodNeed:
    requests = {name: amount(name, str(text)) for name, text in asked.items()}
    return PodNeed(containers=(ContainerNeed(name="main", requests=requests),))


def hold(
    name: str,
    cpu: Amount = 1,
    memory: Amount = "1Gi",
    owners: str | tuple[OwnerRule, ...] = "web",
    **parts: Any,
) -> Hold:
    """A hold whose owners are pods labelled app=`owners`, unless rules are given."""
    namespace = parts.pop("namespace", NAMESPACE)
    shape = pod("", cpu, memory, uid="", namespace=namespace, **parts.pop("pod", {}))
    rules = (owned_by(app=owners),) if isinstance(owners, str) else owners
    return Hold(
        parent=Parent(API_VERSION, "Hold", namespace, name, uid=f"uid-of-{name}"),
        template=PodTemplate(pod=shape),
        owners=rules,
        created=parts.pop("created", NOON),
        **parts,
    )


def owned_by(**labels: str) -> OwnerRule:
    """A rule for pods with exactly these labels."""
    return OwnerRule(selector=selector(**labels))


def selector(*requirements: Requirement, **labels: str) -> LabelSelector:
    """A label selector of requirements and of labels that must be equal."""
    equal = (Requirement(key, "In", (value,)) for key, value in sorted(labels.items()))
    return LabelSelector((*equal, *requirements))


def need(key: str, operator: str = "Exists", *values: str) -> Requirement:
    """One requirement: `need("disk", "In", "ssd", "nvme")`."""
    return Requirement(key, operator, values)


def to_nodes(*terms: NodeTerm) -> Placement:
    """A placement that requires one of these node selector terms."""
    return Placement(node_affinity=NodeAffinity(required=terms))


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> Taint:
    return Taint(key, value, effect)


def tolerating(*tolerations: Toleration) -> Placement:
    """A placement with these tolerations and no wish of its own."""
    return Placement(tolerations=tolerations)
