"""What kube-scheduler writes on claims and volumes before it binds a pod, written by us."""

from __future__ import annotations

from headroom.core.actions import PromiseVolume, SelectNode
from headroom.wire.kinds import VOLUME_CLAIMS, VOLUMES
from headroom.wire.objects.volumes import BOUND_BY_CONTROLLER, SELECTED_NODE
from headroom.wire.writes import MERGE_PATCH, Write


def volume_write(action: SelectNode | PromiseVolume) -> Write:
    """The request that chooses a claim's node, or promises a volume to a claim."""
    if isinstance(action, SelectNode):
        metadata = {"uid": action.uid, "annotations": {SELECTED_NODE: action.node}}
        namespace, name = action.key.namespace, action.key.name
        body = {"metadata": metadata}
        return Write(
            "patch", VOLUME_CLAIMS, namespace, name, body, content_type=MERGE_PATCH, guarded=True
        )
    claim = {
        "apiVersion": VOLUME_CLAIMS.api_version,
        "kind": VOLUME_CLAIMS.kind,
        "namespace": action.claim.namespace,
        "name": action.claim.name,
        "uid": action.claim_uid,
    }
    notes = {BOUND_BY_CONTROLLER: "yes"}
    promise = {
        "metadata": {"resourceVersion": action.version, "annotations": notes},
        "spec": {"claimRef": claim},
    }
    return Write(
        "patch", VOLUMES, "", action.volume, promise, content_type=MERGE_PATCH, guarded=True
    )
