"""Claims that wait for their pod: the volume that each would get on a node, as in kube-scheduler.

A free volume that fits is used before a new one is created, the smallest first. A volume that names
the claim is the only one for it. Claims of one pod are handled in order of their size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headroom.core.demand.volumes import Storage, StorageClass, Volume, VolumeClaim
from headroom.core.objects import Key, LateClaim, Node, NodeTerm, Pod
from headroom.core.selection import matches, term_matches

NOBODY = "kubernetes.io/no-provisioner"
MADE = ""
"""In place of a volume: one is made for the claim."""


def late_claims(pod: Pod, names: Iterable[str], storage: Storage) -> tuple[LateClaim, ...]:
    """The claims of a pod, among those that wait for it, with what they may get."""
    claims = (storage.claims[Key(pod.key.namespace, name)] for name in names)
    return tuple(_late(claim, storage) for claim in claims)


def bindings(late: Iterable[LateClaim], node: Node) -> Mapping[str, str] | None:
    """Which volume each claim gets on a node, MADE for a new one; None: some claim gets none."""
    found: dict[str, str] = {}
    for claim in sorted(late, key=lambda each: (each.size, each.claim)):
        volume = _volume_on(claim, node, found.values())
        if volume is None:
            return None
        found[claim.claim] = volume
    return found


def _volume_on(claim: LateClaim, node: Node, taken: Iterable[str]) -> str | None:
    if claim.selected and claim.selected != node.name:
        return None
    for name, terms in claim.volumes:
        if name not in taken and (terms is None or _any(terms, node)):
            return name
    made = claim.made_on is not None and (not claim.made_on or _any(claim.made_on, node))
    return MADE if made else None


def _any(terms: Iterable[NodeTerm], node: Node) -> bool:
    return any(term_matches(term, node) for term in terms)


def _late(claim: VolumeClaim, storage: Storage) -> LateClaim:
    made_on = _made_on(storage.classes.get(claim.storage_class))
    if claim.selected:  # One is being made.
        return LateClaim(claim.key.name, claim.size, claim.selected, made_on=made_on)
    meant = [each for each in storage.volumes.values() if _is_meant(each, claim)]
    fitting = (each for each in storage.volumes.values() if _fits(each, claim))
    volumes = meant[:1] or sorted(fitting, key=lambda each: (each.size, each.name))
    if meant:
        made_on = None
    choices = tuple((each.name, each.terms) for each in volumes)
    return LateClaim(claim.key.name, claim.size, volumes=choices, made_on=made_on)


def _made_on(found: StorageClass | None) -> tuple[NodeTerm, ...] | None:
    made = found is not None and found.provisioner not in ("", NOBODY)
    return found.topologies if found is not None and made else None


def _is_meant(volume: Volume, claim: VolumeClaim) -> bool:
    """Whether a volume that is not bound yet names this very claim."""
    return volume.claim == claim.key and volume.claim_uid in ("", claim.uid)


def _fits(volume: Volume, claim: VolumeClaim) -> bool:
    """Whether a volume is free for any claim, and has what the claim asks for."""
    return (
        volume.free
        and volume.claim is None
        and volume.storage_class == claim.storage_class
        and volume.size >= claim.size
        and volume.block == claim.block
        and {*claim.modes} <= {*volume.modes}
        and (claim.selector is None or matches(claim.selector, volume.labels))
    )
