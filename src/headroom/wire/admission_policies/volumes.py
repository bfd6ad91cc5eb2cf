"""What the operator may write on claims and volumes, before it binds a pod that waits for them.

For a claim that is not bound: the node that is chosen for it. For a free volume: the claim that
will get it. No other field of either, and nothing after they are bound.
"""

from __future__ import annotations

from headroom.wire.admission_policies import cel
from headroom.wire.kinds import VOLUME_CLAIMS, VOLUMES
from headroom.wire.objects.volumes import BOUND_BY_CONTROLLER, SELECTED_NODE

_METADATA = ("ownerReferences", "finalizers")
_CLAIM = (
    "accessModes",
    "selector",
    "resources",
    "volumeName",
    "storageClassName",
    "volumeMode",
    "dataSource",
    "dataSourceRef",
    "volumeAttributesClassName",
)
_VOLUME = (
    "accessModes",
    "capacity",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
)


def claims() -> cel.Confined:
    """The policy on claims: the chosen node of one that has no volume."""
    return cel.confined(
        VOLUME_CLAIMS,
        ("UPDATE",),
        _notes(SELECTED_NODE, "claims"),
        cel.Check(
            cel.both([_same_rest(), cel.unchanged("spec", _CLAIM)]),
            "the operator changes nothing of a claim but the node that is chosen for it",
        ),
        cel.Check(
            "oldObject.spec.?volumeName.orValue('') == ''",
            "the operator leaves claims alone that have a volume",
        ),
    )


def volumes() -> cel.Confined:
    """The policy on volumes: the claim that is to have one that nobody has."""
    claim = "object.spec.?claimRef"
    kind = f"{claim}.?kind.orValue('') == {cel.text(VOLUME_CLAIMS.kind)}"
    named = f"{kind} && {claim}.?uid.orValue('') != ''"
    before = "oldObject.spec.?claimRef"
    free = (
        f"!{before}.hasValue() || ({before}.?uid.orValue('') == '' && "
        f"{before}.?namespace == {claim}.?namespace && {before}.?name == {claim}.?name)"
    )
    return cel.confined(
        VOLUMES,
        ("UPDATE",),
        _notes(BOUND_BY_CONTROLLER, "volumes"),
        cel.Check(
            cel.both([_same_rest(), cel.unchanged("spec", _VOLUME)]),
            "the operator changes nothing of a volume but the claim that is to have it",
        ),
        cel.Check(
            cel.both([free, named]),
            "the operator promises a volume that nobody has to one claim, by its uid",
        ),
    )


def _notes(key: str, what: str) -> cel.Check:
    before, after = cel.mapping("oldObject", "annotations"), cel.mapping("object", "annotations")
    return cel.Check(
        cel.same_but(before, after, f"key == {cel.text(key)}"),
        f"the operator writes no annotation on {what} but {key}",
    )


def _same_rest() -> str:
    before, after = cel.mapping("oldObject", "labels"), cel.mapping("object", "labels")
    return cel.both([f"{before} == {after}", cel.unchanged("metadata", _METADATA)])
