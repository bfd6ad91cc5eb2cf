"""What the operator may do to existing pods: claims, nominations, gates, deletions, bindings.

A patch may touch our own labels and annotations (and those that a dialect writes beside a claim),
take one gate off, nominate a latch or an owner at our gate, and write two conditions; it never
touches a container. A pod that is not ours may be deleted only after it was marked as preempted,
with its own grace. For a binding, the API server shows a policy only the binding, not the pod.
"""

from __future__ import annotations

from headroom.core.names import CLAIM_GATE, CLUSTER_NAMESPACES, GROUP, ROLE_LATCH
from headroom.wire.admission_policies import cel
from headroom.wire.admission_policies.pods import ROLES, controlled_by, role_of
from headroom.wire.kind_codecs import KindCodecs

CHANGES_NAME = "operator-pod-changes.headroom.dev"
DELETIONS_NAME = "operator-pod-deletions.headroom.dev"
BINDINGS_NAME = "operator-bindings.headroom.dev"

SYSTEM_PRIORITY = 2_000_000_000  # from here on pods are critical for the cluster itself
PREEMPTED = "PreemptionByScheduler"
TOPOLOGY_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")

# What may be changed of a pod's spec at all, gates apart (see "Pod updates" in the API's docs).
_SPEC = (
    "containers",
    "initContainers",
    "ephemeralContainers",
    "activeDeadlineSeconds",
    "terminationGracePeriodSeconds",
    "tolerations",
    "nodeSelector",
    "affinity",
)
_METADATA = ("ownerReferences", "finalizers")
_STATUS = (
    "phase",
    "reason",
    "message",
    "hostIP",
    "hostIPs",
    "podIP",
    "podIPs",
    "startTime",
    "qosClass",
    "containerStatuses",
    "initContainerStatuses",
    "ephemeralContainerStatuses",
    "resize",
)
_OUR_CONDITIONS = ("PodScheduled", "DisruptionTarget")


def changes(user: str, codecs: KindCodecs) -> cel.Validating:
    """The policy on pods that the operator patches, by themselves or through their status."""
    ours = f"key.startsWith({cel.text(f'{GROUP}/')})"
    marks = cel.texts(name for dialect in codecs.dialects for name in dialect.owner_labels)
    labels_ours = f"({ours} || key in {marks})"
    beside = cel.texts(name for dialect in codecs.dialects for name in dialect.claims)
    notes_ours = f"({ours} || key in {beside})"
    return cel.Validating(
        CHANGES_NAME,
        (cel.Match("", ("pods", "pods/status"), ("UPDATE",)),),
        cel.made_by(user),
        (
            cel.Check(
                cel.same_but("variables.oldLabels", "variables.labels", labels_ours),
                f"the operator changes no labels but those of {GROUP} and of dialects",
            ),
            cel.Check(
                cel.same_but("variables.oldNotes", "variables.notes", notes_ours),
                "the operator changes no annotations but those of claims",
            ),
            cel.Check(
                f"{role_of('object')} == {role_of('oldObject')}", "a pod's role never changes"
            ),
            cel.Check(
                cel.both([cel.unchanged("metadata", _METADATA), cel.unchanged("spec", _SPEC)]),
                "the operator changes nothing of a pod's spec but its gates",
            ),
            cel.Check(_gates(), "the operator takes gates off, one at a time, and puts none on"),
            cel.Check(
                cel.both([cel.unchanged("status", _STATUS), _other_conditions()]),
                "the operator writes only nominations and why a pod waits or ends",
            ),
            cel.Check(_nominated(), "only latches and pods at our gate are nominated"),
            cel.Check(_waits(codecs), "only pods of our scheduler are told why they wait"),
            cel.Check(
                _marked(), f"pods of {', '.join(CLUSTER_NAMESPACES)} and of ours never give way"
            ),
        ),
        {
            "labels": cel.mapping("object", "labels"),
            "oldLabels": cel.mapping("oldObject", "labels"),
            "notes": cel.mapping("object", "annotations"),
            "oldNotes": cel.mapping("oldObject", "annotations"),
            "gates": "object.spec.?schedulingGates.orValue([])",
            "oldGates": "oldObject.spec.?schedulingGates.orValue([])",
            "conditions": "object.?status.?conditions.orValue([])",
            "oldConditions": "oldObject.?status.?conditions.orValue([])",
            "nominated": "object.?status.?nominatedNodeName.orValue('')",
            "oldNominated": "oldObject.?status.?nominatedNodeName.orValue('')",
            "role": role_of("oldObject"),
        },
    )


def deletions(user: str, codecs: KindCodecs) -> cel.Validating:
    """The policy on pods that the operator deletes: ours, and pods that give way."""
    grace = cel.both(
        [
            "request.?options.?preconditions.?uid.orValue('') == oldObject.metadata.uid",
            "!has(request.options.gracePeriodSeconds) || "
            "request.options.gracePeriodSeconds >= oldObject.spec.terminationGracePeriodSeconds || "
            "oldObject.?status.?phase.orValue('') in ['Succeeded', 'Failed']",
        ]
    )
    marked = (
        "oldObject.?status.?conditions.orValue([]).exists(each, each.type == 'DisruptionTarget' && "
        f"each.status == 'True' && each.?reason.orValue('') == {cel.text(PREEMPTED)})"
    )
    return cel.Validating(
        DELETIONS_NAME,
        (cel.Match("", ("pods",), ("DELETE",)),),
        cel.made_by(user),
        (
            cel.Check(
                f"{role_of('oldObject')} in {cel.texts(ROLES)} || "
                # A guardian left over by the system that a dialect speaks for.
                f"({controlled_by('oldObject', codecs.foreign)}) || "
                f"({cel.both([_may_give_way(), marked, grace])})",
                "the operator deletes its own pods, and pods marked as preempted with their grace",
            ),
        ),
    )


def bindings(user: str, codecs: KindCodecs) -> cel.Validating:
    """The policy on bindings: of the very pod that was seen, to a node, with a claim or nothing."""
    claims = cel.texts(name for dialect in codecs.dialects for name in dialect.claims)
    known = f"key.startsWith({cel.text(f'{GROUP}/claimed')}) || key in {claims}"
    return cel.Validating(
        BINDINGS_NAME,
        (cel.Match("", ("pods/binding", "bindings"), ("CREATE",)),),
        cel.made_by(user),
        (
            cel.Check(
                f"!(request.namespace in {cel.texts(CLUSTER_NAMESPACES)})",
                "the operator binds no pods of the cluster's own namespaces",
            ),
            cel.Check(
                "object.metadata.?uid.orValue('') != '' && object.target.kind == 'Node'",
                "the operator binds to nodes only, and says by its uid which pod it means",
            ),
            cel.Check(
                # The API server itself adds the zone and region of the node (from 1.35 on).
                f"{cel.mapping('object', 'annotations')}.all(key, {known}) && "
                f"{cel.mapping('object', 'labels')}.all(key, key in {cel.texts(TOPOLOGY_LABELS)})",
                "a binding of the operator carries a claim or nothing",
            ),
        ),
    )


def _gates() -> str:
    return cel.both(
        [
            "size(variables.oldGates) - size(variables.gates) in [0, 1]",
            "variables.gates.all(gate, gate in variables.oldGates)",
        ]
    )


def _other_conditions() -> str:
    others = f".filter(each, !(each.type in {cel.texts(_OUR_CONDITIONS)}))"
    return f"variables.conditions{others} == variables.oldConditions{others}"


def _nominated() -> str:
    at_our_gate = f"variables.oldGates.exists(gate, gate.name == {cel.text(CLAIM_GATE)})"
    return (
        "variables.nominated == variables.oldNominated || variables.nominated == '' || "
        f"variables.role == {cel.text(ROLE_LATCH)} || {at_our_gate}"
    )


def _waits(codecs: KindCodecs) -> str:
    told = ".filter(each, each.type == 'PodScheduled')"
    ours = f"oldObject.spec.?schedulerName.orValue('') in {cel.texts(sorted(codecs.schedulers))}"
    same = f"variables.conditions{told} == variables.oldConditions{told}"
    return f"{same} || ({ours} && !has(oldObject.spec.nodeName))"


def _marked() -> str:
    told = ".filter(each, each.type == 'DisruptionTarget')"
    same = f"variables.conditions{told} == variables.oldConditions{told}"
    right = (
        f"variables.conditions{told}.all(each, each.status == 'True' && "
        f"each.?reason.orValue('') == {cel.text(PREEMPTED)})"
    )
    return f"{same} || " + cel.both([_may_give_way(), "has(oldObject.spec.nodeName)", right])


def _may_give_way() -> str:
    """Whether a pod may ever be ended for an owner of a hold: see `core.eviction.preemption`."""
    return cel.both(
        [
            f"{role_of('oldObject')} == ''",
            f"!(request.namespace in {cel.texts(CLUSTER_NAMESPACES)})",
            f"oldObject.spec.?priority.orValue(0) < {SYSTEM_PRIORITY}",
        ]
    )
