"""The kinds of objects that an installation consists of, besides those in `kinds`.

`install` and the admission policies make such objects, `headroom install` applies them.
"""

from __future__ import annotations

from functools import partial

from headroom.wire.kinds import KINDS, Resource

RBAC = "rbac.authorization.k8s.io"
LABELS = {"app.kubernetes.io/name": "headroom"}
"""The labels of everything that an installation brings."""

_policy = partial(Resource, "admissionregistration.k8s.io", "v1", namespaced=False)

DEFINITIONS = Resource(
    *("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition"),
    namespaced=False,
)
ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount")
SECRETS = Resource("", "v1", "secrets", "Secret")
SERVICES = Resource("", "v1", "services", "Service")
CLUSTER_ROLES = Resource(RBAC, "v1", "clusterroles", "ClusterRole", namespaced=False)
CLUSTER_ROLE_BINDINGS = Resource(
    RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False
)
ROLES = Resource(RBAC, "v1", "roles", "Role")
ROLE_BINDINGS = Resource(RBAC, "v1", "rolebindings", "RoleBinding")
NETWORK_POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
GATE_POLICIES = _policy("mutatingadmissionpolicies", "MutatingAdmissionPolicy")
GATE_BINDINGS = _policy("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding")
POLICIES = _policy("validatingadmissionpolicies", "ValidatingAdmissionPolicy")
POLICY_BINDINGS = _policy("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding")
REGISTRATIONS = _policy("mutatingwebhookconfigurations", "MutatingWebhookConfiguration")

INSTALLED = (
    *KINDS,
    *(DEFINITIONS, ACCOUNTS, SECRETS, SERVICES, NETWORK_POLICIES),
    *(CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, ROLES, ROLE_BINDINGS),
    *(GATE_POLICIES, GATE_BINDINGS, POLICIES, POLICY_BINDINGS, REGISTRATIONS),
)
