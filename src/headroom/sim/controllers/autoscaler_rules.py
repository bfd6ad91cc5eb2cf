"""Which pods request a machine from an autoscaler, and which pods keep one.

Reasons are texts. The rules are those of the Cluster Autoscaler and of Karpenter with their
defaults; `pools.AutoscalerBehaviour` says which.
"""

from __future__ import annotations

from collections.abc import Iterable

from headroom.core.names import SAFE_TO_EVICT
from headroom.core.objects import Pod, Taint
from headroom.core.selection import tolerated
from headroom.sim.api.decoder import pod_of
from headroom.sim.api.values import Json, condition_of, controller_of, dig
from headroom.sim.pools import KARPENTER, AutoscalerBehaviour
from headroom.sim.selectors import selects

DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
SCALE_DOWN_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
_REPLICATED = ("ReplicationController", "Job", "ReplicaSet", "StatefulSet")
_LOCAL = ("emptyDir", "hostPath")


def is_stuck(obj: Json, behaviour: AutoscalerBehaviour) -> bool:
    """Whether a pod is unschedulable and may request a node."""
    condition = condition_of(obj, "PodScheduled") or {}
    if condition.get("status") != "False" or condition.get("reason") != "Unschedulable":
        return False
    pod = pod_of(obj)
    return (
        not pod.node
        and pod.deleted is None
        and not pod.nominated
        and not is_expendable(pod, behaviour)
        and not is_daemon(pod, behaviour)
    )


def is_daemon(pod: Pod, behaviour: AutoscalerBehaviour) -> bool:
    """Whether a pod belongs to its node: it requests no other node and does not keep this one.

    Karpenter checks every owner of a pod, the Cluster Autoscaler its controller.
    """
    for owner in pod.owners:
        if owner.kind == "DaemonSet" and (owner.controller or behaviour.profile == KARPENTER):
            return True
    return False


def is_expendable(pod: Pod, behaviour: AutoscalerBehaviour) -> bool:
    return behaviour.cutoff is not None and pod.priority < behaviour.cutoff


def must_move(pod: Pod, behaviour: AutoscalerBehaviour) -> bool:
    """Whether a pod has to be placed elsewhere before its node can be removed."""
    if pod.finished or is_daemon(pod, behaviour) or is_expendable(pod, behaviour):
        return False
    if behaviour.profile != KARPENTER:
        return True
    # A pod that tolerates the disruption taint is neither evicted nor waited for.
    return not tolerated(Taint(behaviour.taint), pod.placement.tolerations)


def keeps_node(pod: Json, budgets: Iterable[Json], behaviour: AutoscalerBehaviour) -> str:
    """Why a pod that would have to move keeps its node, as text; "" if it does not."""
    covering = [each for each in budgets if selects(dig(each, "spec", "selector"), pod)]
    if behaviour.profile == KARPENTER:
        why = _karpenter_says(pod)
    else:
        why = _cluster_autoscaler_says(pod, bool(covering))
    if why:
        return why
    for budget in covering:
        if int(dig(budget, "status", "disruptionsAllowed") or 0) <= 0:
            return f"budget {dig(budget, 'metadata', 'name')} allows no disruption"
    return ""


def is_protected(node: Json, behaviour: AutoscalerBehaviour) -> bool:
    """Whether an annotation of the node itself forbids its removal."""
    key = DO_NOT_DISRUPT if behaviour.profile == KARPENTER else SCALE_DOWN_DISABLED
    told = node["metadata"].get("annotations")
    return bool(told and key in told and told[key] == "true")


def _karpenter_says(pod: Json) -> str:
    # A duration counts from the pod's start; here it always protects the pod.
    if dig(pod, "metadata", "annotations", DO_NOT_DISRUPT) not in (None, "false"):
        return "the pod is not to be disrupted"
    return ""


def _cluster_autoscaler_says(pod: Json, has_budget: bool) -> str:
    said = dig(pod, "metadata", "annotations", SAFE_TO_EVICT)
    if said == "true":
        return ""
    if said == "false":
        return "the pod is not safe to evict"
    if (controller_of(pod) or {}).get("kind") not in _REPLICATED:
        return "no controller would create the pod again"
    if any(kind in volume for volume in dig(pod, "spec", "volumes") or () for kind in _LOCAL):
        return "the pod has local storage"
    if dig(pod, "metadata", "namespace") == "kube-system" and not has_budget:
        return "it is a pod of the system"
    return ""
