"""The objects of the flags: one Headroom, and the PriorityClass of its guardians."""

from __future__ import annotations

from headroom.core.holds import PREEMPTIBLE
from headroom.core.names import PREEMPTIBLE_CLASS
from headroom.dialects.proactive import names
from headroom.dialects.proactive.options import Options, PlaceholderProfile
from headroom.wire.kinds import HEADROOMS, PRIORITY_CLASSES, Json


def headroom_object(options: Options, namespace: str, autoscaler: str = "") -> Json:
    """The Headroom that the flags describe.

    `autoscaler` names the running Cluster Autoscaler, if there is one.
    """
    metadata = {
        "name": names.OBJECT_NAME,
        "namespace": options.namespace or namespace,
        "labels": {names.PLACEHOLDER_LABEL: names.PLACEHOLDER},
        "annotations": _annotations(options, autoscaler),
    }
    slot = {"template": _shape(options)}
    return HEADROOMS.new(metadata, spec={"slot": slot, "mode": PREEMPTIBLE, **_amount(options)})


def _shape(options: Options) -> Json:
    return {"resources": {"requests": dict(options.requests)}}


def change_to(options: Options, autoscaler: str = "") -> Json:
    """A merge patch that updates an older object.

    The shape of its slot stays, because an administrator may have changed it, unless a flag sets
    it.
    """
    amount = _amount(options)
    size = {"utilization": None, "replicas": None, **amount["size"]}
    slot: Json = {}
    if options.requests != Options().requests:
        slot = {"slot": {"template": _shape(options)}}
    blank = {names.CLASS_ANNOTATION: None, names.REMARK_ANNOTATION: None}
    return {
        "metadata": {"annotations": {**blank, **_annotations(options, autoscaler)}},
        "spec": {"limits": None, **amount, "size": size, **slot},
    }


def class_object() -> Json:
    """The PriorityClass of placeholders, as in the proposal."""
    return PRIORITY_CLASSES.new(
        {"name": names.PRIORITY_CLASS},
        value=names.PRIORITY,
        preemptionPolicy="Never",
        globalDefault=False,
        description="Placeholders that keep room ahead of demand and make way for any pod.",
    )


def remark_on(options: Options, autoscaler: str) -> str:
    """What is wrong with these flags in this cluster; empty if nothing is."""
    if not autoscaler or options.profile is PlaceholderProfile.CLUSTER_AUTOSCALER:
        return ""
    return (
        f"{autoscaler}: it makes no node for pods with a priority below {names.CUTOFF} unless told "
        f"to, and placeholders have {names.PRIORITY}; start with --proactive-scaleup-profile "
        f"{PlaceholderProfile.CLUSTER_AUTOSCALER}, or give it "
        f"--expendable-pods-priority-cutoff={names.PRIORITY}"
    )


def _annotations(options: Options, autoscaler: str) -> dict[str, str]:
    found = {}
    if options.profile is PlaceholderProfile.CLUSTER_AUTOSCALER:
        found[names.CLASS_ANNOTATION] = PREEMPTIBLE_CLASS
    if remark := remark_on(options, autoscaler):
        found[names.REMARK_ANNOTATION] = remark
    return found


def _amount(options: Options) -> Json:
    """Size and limits; a limit of zero is a size of zero."""
    if not options.pod_limit or not options.node_limit:
        return {"size": {"replicas": 0}}
    return {
        "size": {"utilization": {"threshold": options.threshold}},
        "limits": {"pods": options.pod_limit, "nodes": options.node_limit},
    }
