"""Somebody has the webhook's token: of its registration they change only whom to trust."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from headroom.wire.installed_kinds import REGISTRATIONS
from headroom.wire.manifests import Installation, install_objects
from headroom.wire.webhook import WEBHOOK_NAME
from testbed.api import Api, ApiFailure, Json
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import HOME
from tests.e2e.installing import install, until

pytestmark = pytest.mark.e2e
PATH = REGISTRATIONS.path(name=WEBHOOK_NAME)
REFUSED = "ValidatingAdmissionPolicy"
ELSEWHERE = {"url": "https://203.0.113.9/claims"}


@pytest.fixture(scope="module")
def stolen(attacked_plane: ControlPlane) -> Iterator[Api]:
    """A client with the webhook's identity, on a cluster that has the webhook's objects."""
    everything = install_objects(Installation("example.com/headroom:1", replicas=0, webhook=True))
    ours = [made for made in everything if is_the_webhooks(made)]
    install(attacked_plane, ours)
    accounts = f"/api/v1/namespaces/{HOME}/serviceaccounts/{WEBHOOK_NAME}/token"
    asked = {"spec": {"expirationSeconds": 3600}}
    token = attacked_plane.api.create(accounts, asked)["status"]["token"]
    api = Api(attacked_plane.server, attacked_plane.identities.authority_pem, token)
    until("the policy is in force", lambda: bool(refusal(api, hooks(api, failurePolicy="Fail"))))
    yield api
    api.close()
    attacked_plane.api.delete(PATH)


def is_the_webhooks(made: Json) -> bool:
    name = str(made["metadata"]["name"])
    return made["kind"] != "Deployment" and name.startswith(("webhook", WEBHOOK_NAME))


def hooks(api: Api, **changes: Any) -> Json:
    """The registration's entries, with changes to each."""
    return {"webhooks": [{**hook, **changes} for hook in api.get(PATH)["webhooks"]]}


def refusal(api: Api, change: Json) -> str:
    try:
        api.patch(f"{PATH}?dryRun=All", change)
    except ApiFailure as failure:
        return str(failure)
    return ""


@pytest.mark.parametrize(
    "changes",
    [
        {"clientConfig": ELSEWHERE},
        {"clientConfig": {"service": {"name": "mine", "namespace": "victim", "path": "/claims"}}},
        {"failurePolicy": "Fail"},
        {"timeoutSeconds": 30},
        {"namespaceSelector": {}},
        {"matchConditions": []},
        {
            "rules": [
                {
                    "apiGroups": ["*"],
                    "apiVersions": ["*"],
                    "operations": ["*"],
                    "resources": ["*"],
                }
            ]
        },
    ],
    ids=str,
)
def test_the_webhooks_token_changes_nothing_of_its_registration(stolen: Api, changes: Json) -> None:
    assert REFUSED in refusal(stolen, hooks(stolen, **changes))


def test_the_webhooks_token_adds_no_entry_and_takes_none_away(stolen: Api) -> None:
    there = stolen.get(PATH)["webhooks"]
    more = {**there[0], "name": "other.example.com"}
    assert REFUSED in refusal(stolen, {"webhooks": [*there, more]})
    assert REFUSED in refusal(stolen, {"webhooks": []})
    assert REFUSED in refusal(stolen, {"metadata": {"labels": {"mine": "true"}}})


def test_the_webhook_still_says_whom_to_trust(attacked_plane: ControlPlane, stolen: Api) -> None:
    there = stolen.get(PATH)["webhooks"]
    bundle = base64.b64encode(attacked_plane.identities.authority_pem.encode()).decode()
    told = [
        {**hook, "clientConfig": {**hook["clientConfig"], "caBundle": bundle}} for hook in there
    ]
    stolen.patch(PATH, {"webhooks": told})
    assert all(hook["clientConfig"]["caBundle"] for hook in stolen.get(PATH)["webhooks"])
