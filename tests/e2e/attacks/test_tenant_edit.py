"""Who may edit a namespace reserves nothing in it, unless an administrator says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headroom.wire.kinds import HEADROOMS, HOLDS, NAMESPACES, PODS
from headroom.wire.manifests import Installation, install_objects
from testbed.api import Api, ApiFailure
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import RBAC
from tests.e2e.installing import install, until
from tests.stories.things import headroom, hold, pod

pytestmark = pytest.mark.e2e
SHOP = "edited"


@pytest.fixture
def editor(attacked_plane: ControlPlane) -> Iterator[Api]:
    """A service account with the role `edit` of one namespace, and nothing of ours."""
    api = attacked_plane.api
    api.ensure(NAMESPACES.path(), {"metadata": {"name": SHOP}})
    accounts = f"/api/v1/namespaces/{SHOP}/serviceaccounts"
    api.ensure(accounts, {"metadata": {"name": "editor"}})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}
    subject = {"kind": "ServiceAccount", "name": "editor", "namespace": SHOP}
    bound = {"metadata": {"name": "editor"}, "roleRef": role, "subjects": [subject]}
    api.ensure(f"{RBAC}/namespaces/{SHOP}/rolebindings", bound)
    asked = {"spec": {"expirationSeconds": 3600}}
    token = api.create(f"{accounts}/editor/token", asked)["status"]["token"]
    client = Api(attacked_plane.server, attacked_plane.identities.authority_pem, token)
    until("the editor may edit", lambda: may_create(client, PODS.path(SHOP), pod("p")))
    yield client
    client.close()


def may_create(client: Api, path: str, thing: dict[str, object]) -> bool:
    try:
        client.create(f"{path}?dryRun=All", {**thing, "metadata": {"name": "asked"}})
    except ApiFailure:
        return False
    return True


def test_an_editor_creates_no_hold_and_no_headroom_unless_install_says_so(
    attacked_plane: ControlPlane, editor: Api
) -> None:
    until("the editor sees them", lambda: editor.items(HOLDS.path(SHOP)) == [])
    for resource, thing in ((HOLDS, hold("mine")), (HEADROOMS, headroom("mine"))):
        with pytest.raises(ApiFailure, match="forbidden"):
            editor.create(resource.path(SHOP), {**thing, "metadata": {"name": "mine"}})
    everything = install_objects(
        Installation("example.com/headroom:1", replicas=0, tenant_edit=True)
    )
    (role,) = [made for made in everything if made["metadata"]["name"] == "headroom-edit"]
    install(attacked_plane, [role])
    until("editors may reserve", lambda: may_create(editor, HOLDS.path(SHOP), hold("mine")))
    del role["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-edit"]
    del role["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-admin"]
    install(attacked_plane, [role])
    until("and no longer", lambda: not may_create(editor, HOLDS.path(SHOP), hold("mine")))
