"""Owners that use no door: a hold matches them, and they can never get it.

A pod gets held room through the gate, through our scheduler name, or because its namespace has the
label and admission adds the gate. kube-scheduler places a pod with none of these as if nothing were
held for it, and the held room only makes its wait longer. Preemptible slots need no door: any more
important pod takes them. Pods that ask by an annotation of a dialect get the gate everywhere, so
rules for those are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from headroom.core import names
from headroom.core.claims import claim_of
from headroom.core.conditions import conditions_of
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.objects import Condition, Key, Namespace, Pod
from headroom.core.owners import EVERYWHERE, has_right, owner_refusal, reach

OWNERS_WITHOUT_DOOR = "OwnersWithoutDoor"
ENABLED = "enabled"


def at_door(pod: Pod, schedulers: Iterable[str]) -> bool:
    """Whether a pod waits at one of our doors, or has used one."""
    return names.CLAIM_GATE in pod.gates or pod.scheduler in schedulers or claim_of(pod) is not None


def may_lack_door(pod: Pod) -> bool:
    """Whether a pod could be an owner at all: alive, not ours, and not a kubelet's own."""
    return (
        names.ROLE_LABEL not in pod.labels
        and not pod.finished
        and pod.deleted is None
        and not any(owner.kind == "Node" for owner in pod.owners)
    )


def opted_in(namespace: Namespace | None) -> bool:
    """Whether admission puts the gate on the owners of a namespace."""
    return namespace is not None and namespace.labels.get(names.CLAIMS_NAMESPACE_LABEL) == ENABLED


def asking_for_doors(wish: Hold | Headroom) -> Hold | Headroom | None:
    """The hold or headroom with those of its rules whose pods need a door; None: none do."""
    rules = tuple(rule for rule in wish.owners if rule.asks is None)
    if not rules or wish.mode == PREEMPTIBLE or wish.problems or wish.deleted is not None:
        return None
    if isinstance(wish, Hold) and (wish.terminal or wish.member is not None or wish.pre_allocation):
        return None
    return replace(wish, owners=rules)


def is_for(wish: Hold | Headroom, pod: Pod, across_namespaces: bool) -> bool:
    """Whether a hold's or headroom's rules mean this pod."""
    if isinstance(wish, Hold):
        return owner_refusal(wish, pod, across_namespaces) is None
    return has_right(wish, pod, across_namespaces)


def reached(wish: Hold | Headroom, across_namespaces: bool) -> tuple[str, ...]:
    """The namespaces of its owners; `EVERYWHERE` stands for all."""
    if isinstance(wish, Hold):
        return reach(wish, across_namespaces)
    home = wish.parent.namespace
    return (EVERYWHERE,) if across_namespaces or not home else (home,)


def remark(pod: Key) -> str:
    """The message: one pod that has no door, and the three remedies."""
    label = f"{names.CLAIMS_NAMESPACE_LABEL}={ENABLED}"
    return (
        f"pod {pod} is meant by spec.owners, but can never get this room: it has no door. "
        f"Label its namespace (kubectl label namespace {pod.namespace} {label}), or give its "
        f"template the scheduling gate {names.CLAIM_GATE}, or schedulerName: {names.SCHEDULER_NAME}"
    )


def with_remark(
    conditions: tuple[Condition, ...],
    before: Iterable[Condition],
    message: str,
    about: tuple[int, datetime],
) -> tuple[Condition, ...]:
    """These conditions and, if there is a message, the one about doors.

    It keeps its time for as long as it stays. `about` is the object's generation, and now.
    """
    others = tuple(each for each in conditions if each.type != OWNERS_WITHOUT_DOOR)
    if not message:
        return others
    generation, now = about
    words = (OWNERS_WITHOUT_DOOR, "True", OWNERS_WITHOUT_DOOR, message)
    return (*others, *conditions_of((words,), before, generation, now))


def told_in(conditions: Iterable[Condition]) -> str:
    """The message of the condition about doors; empty without one."""
    found = (each for each in conditions if each.type == OWNERS_WITHOUT_DOOR)
    return next((each.message for each in found if each.status == "True"), "")
