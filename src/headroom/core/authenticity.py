"""Decide which pods really are ours: anybody can write our labels and annotations on a pod.

A label or an annotation proves nothing. A guardian has one of the names that its hold defines,
lives in the namespace where we create it or where its hold's owners live, and belongs to exactly
that object. A claim is genuine if we would have given it.
"""

from __future__ import annotations

from headroom.core.claims import claim_of
from headroom.core.derived_names import guardian_names
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.owners import has_right


def keeps(hold: Hold, pod: Pod) -> bool:
    """Whether a pod with the label of a guardian really is a guardian of this hold."""
    return (
        pod.key.name in guardian_names(hold)
        and pod.key.namespace in (hold.guardian_namespace, hold.home)
        and _belongs_to(pod, hold.parent.uid)
    )


def stands_for(headroom: Headroom, pod: Pod) -> bool:
    """Whether a pod with the label of a guardian really is one of this headroom's slots."""
    home = headroom.parent.namespace
    return home in ("", pod.key.namespace) and _belongs_to(pod, headroom.parent.uid)


def has_got(headroom: Headroom, pod: Pod, across_namespaces: bool, known: bool = False) -> bool:
    """Whether the claim of a pod on one of this headroom's slots is genuine.

    A pod that is `known` to have been an owner stays one, whatever has changed since.
    """
    claim = claim_of(pod)
    return (
        claim is not None
        and bool(pod.node)
        and claim[1] == headroom.parent.uid
        and (known or has_right(headroom, pod, across_namespaces))
    )


def _belongs_to(pod: Pod, uid: str) -> bool:
    return any(owner.uid == uid for owner in pod.owners)
