"""The webhook's registration and rights: it can stop no pod, and may do little."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.wire.install.webhook import webhook_objects
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.manifests import Installation, install_objects
from headroom.wire.policy import policy_objects
from headroom.wire.schema.own import known
from headroom.wire.schema.validation import validate
from headroom.wire.webhook import registration
from tests.wire.toydialect import ASKS, TOY

Json = dict[str, Any]
CLAIMS, ASKING = registration("spare", (ASKS,))["webhooks"]


@pytest.mark.parametrize("hook", [CLAIMS, ASKING], ids=["claims", "asks"])
def test_the_webhook_can_neither_stop_a_pod_nor_do_anything_in_a_dry_run(hook: Json) -> None:
    assert hook["failurePolicy"] == "Ignore"
    assert hook["timeoutSeconds"] == 2
    assert hook["sideEffects"] == "None"
    assert [rule["operations"] for rule in hook["rules"]] == [["CREATE"]]


def test_it_is_asked_about_the_same_namespaces_as_the_policies() -> None:
    policies = policy_objects((ASKS,), "spare")[::2]
    wanted = [each["spec"]["matchConstraints"]["namespaceSelector"] for each in policies]
    assert [CLAIMS["namespaceSelector"], ASKING["namespaceSelector"]] == wanted


@pytest.mark.parametrize("hook", [CLAIMS, ASKING], ids=["claims", "asks"])
def test_what_the_api_server_judges_itself_needs_no_index(hook: Json) -> None:
    expressions = [each["expression"] for each in hook["matchConditions"]]
    assert expressions
    assert not [text for text in expressions if "params" in text]


def test_only_a_dialect_whose_pods_ask_brings_the_second_entry() -> None:
    assert len(registration("spare")["webhooks"]) == 1
    names = [made["kind"] for made in webhook_objects("x", "spare", KindCodecs((TOY,)))]
    assert names[-1] == "MutatingWebhookConfiguration"
    assert len(webhook_objects("x", "spare", KindCodecs((TOY,)))[-1]["webhooks"]) == 2


def test_a_webhook_outside_the_cluster_is_reached_by_its_url() -> None:
    (hook,) = registration("spare", url="https://127.0.0.1:8443/")["webhooks"]
    assert hook["clientConfig"] == {"url": "https://127.0.0.1:8443/claims"}


def test_secrets_and_registration_are_granted_by_name_only() -> None:
    rules = [
        rule
        for made in webhook_objects("x", "spare")
        if made["kind"] in ("ClusterRole", "Role")
        for rule in made["rules"]
    ]
    by_resource = {resource: rule for rule in rules for resource in rule["resources"]}
    assert sorted(by_resource) == ["claimindexes", "mutatingwebhookconfigurations", "secrets"]
    for resource in ("secrets", "mutatingwebhookconfigurations"):
        assert by_resource[resource]["resourceNames"] == ["headroom-webhook"]
    assert by_resource["secrets"]["verbs"] == ["get", "update"]


def test_the_operator_gets_no_right_to_secrets_with_it() -> None:
    roles = [
        made
        for made in install_objects(Installation("x", webhook=True))
        if made["kind"] in ("ClusterRole", "Role")
        and made["metadata"]["name"] == "headroom-operator"
    ]
    assert len(roles) == 2
    assert "secrets" not in str(roles)


def test_applying_the_secret_again_touches_nothing_in_it() -> None:
    (secret,) = [made for made in webhook_objects("x", "spare") if made["kind"] == "Secret"]
    assert not {"data", "stringData"} & set(secret)


@pytest.mark.parametrize("kind", ["Deployment", "PodDisruptionBudget", "ServiceAccount"])
def test_objects_of_the_webhook_have_no_unknown_fields(kind: str) -> None:
    made = [each for each in webhook_objects("x", "spare") if each["kind"] == kind]
    assert made
    assert [problem for each in made for problem in validate(each, kind, known())] == []


def test_the_webhook_is_told_which_dialects_it_speaks() -> None:
    (deployment,) = [
        each
        for each in webhook_objects("x", "spare", KindCodecs((TOY,)))
        if each["kind"] == "Deployment"
    ]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["args"][0] == "webhook"
    assert container["args"][-1] == "--dialect=toy"
