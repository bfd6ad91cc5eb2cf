"""The four flags of proactive scale-up: their defaults, and what is refused."""

from __future__ import annotations

import pytest

from headroom.dialects.proactive.options import (
    BadOption,
    Options,
    Profile,
    Texts,
    read_options,
)


def test_the_defaults_are_those_of_the_proposal() -> None:
    assert read_options(Texts()) == Options(
        enabled=False, pod_limit=5000, node_limit=15000, threshold=0.8
    )


def test_all_may_be_given() -> None:
    texts = Texts("true", "10", "3", "0.5", "clusterAutoscaler")
    assert read_options(texts) == Options(True, 10, 3, 0.5, Profile.CLUSTER_AUTOSCALER)


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
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_its_flag(texts: Texts, flag: str) -> None:
    refused = read_options(texts)
    assert isinstance(refused, BadOption)
    assert refused.flag == flag
