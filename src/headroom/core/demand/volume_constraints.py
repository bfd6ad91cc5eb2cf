"""What a pod's volumes require of nodes and of other pods, and why they may exclude every node.

The rules and messages are those of kube-scheduler's VolumeBinding, VolumeZone and
VolumeRestrictions.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.demand.unbound_claims import late_claims
from headroom.core.demand.volumes import Binding, Storage, VolumeClaim, allowed_nodes, mounts
from headroom.core.objects import Key, Pod

ONE_POD = "ReadWriteOncePod"
UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
UNBINDABLE = "node(s) didn't find available persistent volumes to bind"


def with_volumes(pod: Pod, storage: Storage) -> Pod:
    """The pod with what its volumes ask of a node, and of other pods."""
    mounted = mounts(pod.key.namespace, dict.fromkeys(pod.claims), storage)
    waiting = [mount.claim for mount in mounted if mount.binding is Binding.WAITS_FOR_POD]
    volumes = [mount.volume for mount in mounted if mount.volume is not None]
    claims = (storage.claims.get(Key(pod.key.namespace, name)) for name in pod.claims)
    return replace(
        pod,
        reach=allowed_nodes(mounted),
        zones=tuple(dict.fromkeys(zone for volume in volumes for zone in volume.zones)),
        sole=tuple(claim.key.name for claim in claims if claim is not None and _is_sole(claim)),
        late=late_claims(pod, waiting, storage),
    )


def volume_refusal(pod: Pod, storage: Storage) -> str:
    """Why a pod's claims forbid every node, in kube-scheduler's words and order; empty: not so."""
    if not pod.claims:
        return ""
    names = dict.fromkeys(pod.claims)
    named = [name for name in names if name not in pod.own_claims]
    for name in (*named, *(own for own in names if own in pod.own_claims)):
        if Key(pod.key.namespace, name) not in storage.claims:
            return _missing(name, name in pod.own_claims)
    for name in names:
        refusal = _unfit(storage.claims[Key(pod.key.namespace, name)], pod)
        if refusal:
            return refusal
    mounted = mounts(pod.key.namespace, names, storage)
    if any(mount.binding is Binding.UNBOUND for mount in mounted):
        return UNBOUND
    return next((mount.trouble for mount in mounted if mount.trouble), "")


def is_mounted(pod: Pod, storage: Storage) -> bool:
    """Whether a pod has all of its volumes."""
    return not pod.late and not volume_refusal(pod, storage)


def names_unknown(pod: Pod, storage: Storage) -> bool:
    """Whether a pod names a claim that is not there, or that we do not know of yet."""
    return any(Key(pod.key.namespace, name) not in storage.claims for name in pod.claims)


def _missing(name: str, own: bool) -> str:
    if own:
        who = "ephemeral volume controller"
        return f'waiting for {who} to create the persistentvolumeclaim "{name}"'
    return f'persistentvolumeclaim "{name}" not found'


def _unfit(claim: VolumeClaim, pod: Pod) -> str:
    name = claim.key.name
    if claim.lost:
        return (
            f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume '
            f'"{claim.volume}"'
        )
    if claim.deleting:
        return f'persistentvolumeclaim "{name}" is being deleted'
    if name in pod.own_claims and claim.made_for != pod.uid:
        return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"
    return ""


def _is_sole(claim: VolumeClaim) -> bool:
    return ONE_POD in claim.modes
