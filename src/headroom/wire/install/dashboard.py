"""Rights around the page, apart from the operator's own: nobody has them unless asked for.

Who may forward a port to the operator sees all that the operator sees; `headroom-dashboard` is the
Role to bind to such people. Where the page is open to the network, the operator has to ask whose a
token is and what that person may list: that is `headroom-token-reviews`.
"""

from __future__ import annotations

from headroom.wire.install.rights import ACCOUNT
from headroom.wire.kinds import Json
from headroom.wire.rbac import binding, cluster_role, role, rule

VIEWERS = "headroom-dashboard"
REVIEWS = "headroom-token-reviews"


def dashboard_objects(namespace: str) -> list[Json]:
    """The Role for people, and the operator's right to review tokens with its binding."""
    return [
        role(
            VIEWERS,
            namespace,
            [
                rule("", ("pods",), ("get", "list")),
                rule("apps", ("deployments",), ("get",)),
                rule("", ("pods/portforward",), ("create", "get")),
            ],
        ),
        cluster_role(
            REVIEWS,
            [
                rule("authentication.k8s.io", ("tokenreviews",), ("create",)),
                rule("authorization.k8s.io", ("subjectaccessreviews",), ("create",)),
            ],
        ),
        binding(REVIEWS, "ClusterRole", namespace, to=ACCOUNT),
    ]
