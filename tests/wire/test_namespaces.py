"""Affinity of a template whose guardian lives in another namespace."""

from __future__ import annotations

from typing import Any

from headroom.wire.namespaces import seen_from

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
WEB = {"matchLabels": {"app": "web"}}
OURS = {"matchLabels": {"app": "web", "headroom.dev/namespace": "shop"}}


def term(**more: Any) -> dict[str, Any]:
    return {"labelSelector": WEB, "topologyKey": "zone", **more}


def rewritten(affinity: dict[str, Any]) -> dict[str, Any]:
    return seen_from("apart", "shop", affinity)


def test_anti_affinity_means_the_pods_and_the_guardians_of_the_templates_namespace() -> None:
    both = [
        term(namespaces=["shop"]),
        {**term(namespaces=["apart"]), "labelSelector": OURS},
    ]
    assert rewritten({"podAntiAffinity": {REQUIRED: [term()]}}) == {
        "podAntiAffinity": {REQUIRED: both}
    }
    weighed = [{"weight": 7, "podAffinityTerm": term()}]
    assert rewritten({"podAntiAffinity": {PREFERRED: weighed}}) == {
        "podAntiAffinity": {PREFERRED: [{"weight": 7, "podAffinityTerm": each} for each in both]}
    }


def test_affinity_is_one_term_because_all_terms_must_hold() -> None:
    assert rewritten({"podAffinity": {REQUIRED: [term()]}}) == {
        "podAffinity": {REQUIRED: [term(namespaces=["shop", "apart"])]}
    }


def test_what_is_about_other_namespaces_or_about_nodes_stays_as_it_is() -> None:
    others = {
        "nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}},
        "podAffinity": {REQUIRED: [term(namespaces=["other"])]},
        "podAntiAffinity": {REQUIRED: [term(namespaceSelector={}), "odd"], PREFERRED: None},
    }
    assert rewritten(others) == others
    assert rewritten({"podAffinity": {PREFERRED: ["odd"]}}) == {"podAffinity": {PREFERRED: ["odd"]}}
    assert rewritten({"podAntiAffinity": "odd"}) == {"podAntiAffinity": "odd"}


def test_a_term_that_matches_no_pod_still_matches_none() -> None:
    nobody = {"topologyKey": "zone"}
    assert rewritten({"podAntiAffinity": {REQUIRED: [nobody]}}) == {
        "podAntiAffinity": {REQUIRED: [{**nobody, "namespaces": ["shop"]}]}
    }
