"""The four flags of proactive scale-up: their defaults, and what is refused."""

from __future__ import annotations

import pytest

from headroom.dialects.proactive.objects import change_to, headroom_object
from headroom.dialects.proactive.options import (
    BadOption,
    Options,
    PlaceholderProfile,
    Texts,
    read_options,
)


def test_the_defaults_are_those_of_the_proposal() -> None:
    assert read_options(Texts()) == Options(
        enabled=False, pod_limit=5000, node_limit=15000, threshold=0.8
    )


def test_all_may_be_given() -> None:
    texts = Texts("true", "10", "3", "0.5", "clusterAutoscaler")
    assert read_options(texts) == Options(True, 10, 3, 0.5, PlaceholderProfile.CLUSTER_AUTOSCALER)


@pytest.mark.parametrize("text", ["1", "t", "T", "TRUE", "true", "True"])
def test_what_go_takes_for_true_is_true(text: str) -> None:
    options = read_options(Texts(enabled=text))
    assert options.enabled


@pytest.mark.parametrize("text", ["0", "f", "F", "FALSE", "false", "False"])
def test_what_go_takes_for_false_is_false(text: str) -> None:
    options = read_options(Texts(enabled=text))
    assert not options.enabled


def test_placeholders_have_the_shape_and_the_namespace_that_the_flags_say() -> None:
    options = read_options(Texts("true", requests="cpu=1, nvidia.com/gpu=1", namespace="ahead"))
    made = headroom_object(options, "headroom-system")
    assert made["metadata"]["namespace"] == "ahead"
    requests = made["spec"]["slot"]["template"]["resources"]["requests"]
    assert requests == {"cpu": "1", "nvidia.com/gpu": "1"}
    assert change_to(options)["spec"]["slot"] == made["spec"]["slot"]


def test_without_a_flag_the_shape_of_an_object_from_before_stays() -> None:
    assert "slot" not in change_to(Options(enabled=True))["spec"]


@pytest.mark.parametrize(
    ("texts", "flag"),
    [
        (Texts(enabled="yes"), "--enable-proactive-scaleup"),
        (Texts(pod_limit="-1"), "--pod-injection-limit"),
        (Texts(pod_limit="many"), "--pod-injection-limit"),
        (Texts(node_limit="-1"), "--node-limit"),
        (Texts(node_limit="1e3"), "--node-limit"),
        (Texts(threshold="0"), "--proactive-scaleup-threshold"),
        (Texts(threshold="1.5"), "--proactive-scaleup-threshold"),
        (Texts(threshold="NaN"), "--proactive-scaleup-threshold"),
        (Texts(threshold="-0.8"), "--proactive-scaleup-threshold"),
        (Texts(threshold="80%"), "--proactive-scaleup-threshold"),
        (Texts(profile="gke"), "--proactive-scaleup-profile"),
        (Texts(requests="cpu"), "--proactive-scaleup-requests"),
        (Texts(requests="cpu=much"), "--proactive-scaleup-requests"),
        (Texts(requests="cpu=1,cpu=2"), "--proactive-scaleup-requests"),
        (Texts(namespace="Not_One"), "--proactive-scaleup-namespace"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_its_flag(texts: Texts, flag: str) -> None:
    with pytest.raises(BadOption) as refused:
        read_options(texts)
    assert refused.value.flag == flag
