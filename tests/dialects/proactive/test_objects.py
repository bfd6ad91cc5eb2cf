"""The one object that the flags come to: what it says, and how it is read."""

from __future__ import annotations

import json
from typing import Any

from headroom.core.actions import CreateGuardian
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.objects import Parent
from headroom.core.sizes.replicas import Replicas
from headroom.core.sizes.utilization import Utilization
from headroom.dialects.proactive import PROACTIVE
from headroom.dialects.proactive.objects import class_object, headroom_object, remark_on
from headroom.dialects.proactive.options import Options, PlaceholderProfile
from headroom.wire.guardians import guardian_json
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import DEPLOYMENTS, HEADROOMS
from headroom.wire.schema.own import known
from headroom.wire.schema.validation import validate

CODECS = KindCodecs([PROACTIVE])
CA = "Cluster Autoscaler is at work here"


def read(made: dict[str, Any]) -> Headroom:
    thing = CODECS.decode(HEADROOMS, json.dumps(made).encode())
    assert isinstance(thing, Headroom)
    return thing


def guardian_of(headroom: Headroom) -> dict[str, Any]:
    template = headroom.slot.template
    assert template is not None
    parent = Parent("headroom.dev/v1alpha1", "Headroom", "ours", "x", uid="u", slot="0")
    hold = Hold(parent, template, mode=headroom.mode)
    return guardian_json(CreateGuardian(name="x-0", hold=hold, requests=template.pod.requests))


def test_the_flags_come_to_one_headroom_that_is_sound() -> None:
    made = headroom_object(Options(True, 10, 3, 0.5), "ours")
    assert validate(made, "Headroom", known()) == []
    headroom = read(made)
    assert headroom.problems == ()
    assert headroom.size == Utilization(500, ahead=True)
    assert (headroom.limits.pods, headroom.limits.nodes) == (10, 3)


def test_a_limit_of_none_holds_nothing() -> None:
    assert read(headroom_object(Options(True, pod_limit=0), "ours")).size == Replicas(0)
    assert read(headroom_object(Options(True, node_limit=0), "ours")).size == Replicas(0)


def test_placeholders_carry_the_label_the_annotation_and_the_class() -> None:
    made = guardian_of(read(headroom_object(Options(True), "ours")))
    labels, notes = made["metadata"]["labels"], made["metadata"]["annotations"]
    assert labels["karpenter.azure.com/proactive-scaleup"] == "placeholder"
    assert notes["karpenter.azure.com/proactive-scaleup-pod"] == "true"
    assert notes["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "true"
    assert made["spec"]["priorityClassName"] == class_object()["metadata"]["name"]
    assert class_object()["value"] == -1000


def test_the_profile_for_cluster_autoscaler_stays_above_its_cutoff() -> None:
    options = Options(True, profile=PlaceholderProfile.CLUSTER_AUTOSCALER)
    headroom = read(headroom_object(options, "ours", CA))
    assert guardian_of(headroom)["spec"]["priorityClassName"] == "headroom-preemptible"
    assert headroom.remarks == ()


def test_where_placeholders_would_be_ignored_the_object_says_so() -> None:
    headroom = read(headroom_object(Options(True), "ours", CA))
    (remark,) = headroom.remarks
    assert "below -10" in remark.message
    assert remark.message == remark_on(Options(True), CA)


def test_other_headrooms_are_read_as_ever() -> None:
    made = headroom_object(Options(True), "ours")
    made["metadata"]["labels"] = {"karpenter.azure.com/proactive-scaleup": "other"}
    headroom = read(made)
    assert headroom.size == Utilization(800)
    assert "priorityClassName" in guardian_of(headroom)["spec"]
    assert guardian_of(headroom)["spec"]["priorityClassName"] == "headroom-preemptible"


def test_workloads_are_followed_from_the_start() -> None:
    assert DEPLOYMENTS in CODECS.resources
    assert DEPLOYMENTS not in CODECS.foreign
