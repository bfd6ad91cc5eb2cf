"""Who the operator is and what it may do: exactly what its watches and its actions need.

One line of rights for each thing it does (`core.actions`, `ports`), so that a reader can check
them: no secrets, no nodes written, its lease by name. People see our kinds through the cluster's
own roles `view`, `edit` and `admin`, and write them by `headroom-edit`.
"""

from __future__ import annotations

from collections.abc import Sequence

from headroom.core.names import GROUP, LEASE_NAME, LOCKED_CLASS, PREEMPTIBLE_CLASS
from headroom.wire.installed_kinds import RBAC
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import AUTOSCALERS, DAEMON_SETS, VOLUMES, WORKLOADS, Json
from headroom.wire.policy import ASKS_POLICY_NAME, POLICY_NAME
from headroom.wire.rbac import FOLLOW, READ, account, binding, cluster_role, named, role, rule

ACCOUNT = "headroom-operator"

_WRITE = ("create", "update", "patch", "delete", "deletecollection")
_OURS_TO_SEE = (
    "holds",
    "holds/status",
    "headrooms",
    "headrooms/status",
    "headrooms/scale",
    "slotsets",
)
_OURS_TO_WRITE = ("holds", "headrooms")
_AGGREGATE = f"{RBAC}/aggregate-to-"


def rights(
    namespace: str,
    codecs: KindCodecs = NATIVE,
    *,
    tenant_edit: bool = False,
    served: Sequence[str] = (),
) -> list[Json]:
    """Return the account, its roles and their bindings, and the roles for people.

    Who may look at a namespace may look at our kinds there. Who may reserve room in one is an
    administrator's to say, by a binding of `headroom-edit`, unless `tenant_edit` is on. Where only
    some namespaces are `served`, what is in a namespace is written there alone.
    """
    everywhere: list[Json] = _operator_rules(codecs)
    within: list[Json] = []
    if served:
        everywhere, within = _parted(everywhere, codecs)
    return [
        account(ACCOUNT, namespace),
        cluster_role(ACCOUNT, everywhere),
        binding(ACCOUNT, "ClusterRole", namespace),
        role(ACCOUNT, namespace, [*_lease_rules(), *within]),
        binding(ACCOUNT, "Role", namespace),
        *(
            made
            for there in served
            if there != namespace
            for made in (
                role(ACCOUNT, there, within),
                binding(ACCOUNT, "Role", namespace, there),
            )
        ),
        cluster_role(
            "headroom-view",
            [rule(GROUP, _OURS_TO_SEE, READ), *_to_see(codecs)],
            {
                f"{_AGGREGATE}view": "true",
                f"{_AGGREGATE}edit": "true",
                f"{_AGGREGATE}admin": "true",
            },
        ),
        cluster_role(
            "headroom-edit",
            [
                rule(GROUP, _OURS_TO_WRITE, _WRITE),
                rule(GROUP, ("headrooms/scale",), ("update", "patch")),
                *_to_write(codecs),
            ],
            {f"{_AGGREGATE}edit": "true", f"{_AGGREGATE}admin": "true"} if tenant_edit else {},
        ),
    ]


def _operator_rules(codecs: KindCodecs) -> list[Json]:
    policies = (POLICY_NAME, *((ASKS_POLICY_NAME,) if codecs.asks else ()))
    return [
        rule("", ("pods", "nodes", "namespaces"), FOLLOW),
        rule(GROUP, ("holds", "headrooms"), FOLLOW),
        # At its start it looks whether its own namespace, and the headrooms of flags, are there.
        rule("", ("namespaces",), ("get",)),
        rule(GROUP, ("headrooms",), ("get",)),
        # Holds that ended long ago.
        rule(GROUP, ("holds",), ("delete",)),
        # Workloads whose pods give slots their shape; watched only where a Headroom names one.
        *(rule(group, plurals, FOLLOW) for group, plurals in _workloads().items()),
        # Volumes by which slots follow pods, and of pods at our doors; watched only where a
        # Headroom goes by them, or such a pod mounts one.
        rule("", ("persistentvolumeclaims", "persistentvolumes"), FOLLOW),
        rule("storage.k8s.io", ("csinodes", "storageclasses"), FOLLOW),
        # Claims that wait for a pod of our scheduler: its node, or the volume that they are to get.
        rule("", ("persistentvolumeclaims", "persistentvolumes"), ("patch",)),
        # Quotas that headrooms keep to; watched only where one asks for its room.
        rule("", ("resourcequotas",), FOLLOW),
        # To tell which LimitRange refuses a guardian.
        rule("", ("limitranges",), ("list",)),
        # Autoscalers that say how many pods will come; watched only where a size is learnt.
        rule(AUTOSCALERS.group, (AUTOSCALERS.plural,), FOLLOW),
        # Budgets of pods that give way to an owner; watched only where a hold has many owners.
        rule("policy", ("poddisruptionbudgets",), FOLLOW),
        # Guardians and latches made and deleted; the gate and the claim taken off owners; pods
        # deleted that give way to a more important owner of a hold.
        rule("", ("pods",), ("create", "delete", "patch")),
        # Nominations, why a pod that names our scheduler waits, and that one has to give way.
        rule("", ("pods/status",), ("patch",)),
        rule("", ("pods/binding",), ("create",)),
        rule(GROUP, ("holds/status", "headrooms/status"), ("patch",)),
        # SlotSets, by which disruption budgets expect no ready pods of guardians.
        rule(GROUP, ("slotsets",), FOLLOW),
        rule(GROUP, ("slotsets",), ("create",)),
        # DaemonSets without pods, by which Karpenter counts slots per node.
        rule(DAEMON_SETS.group, (DAEMON_SETS.plural,), ("create", "patch")),
        # Applied from the server's side: create the first time, patch ever after.
        rule(GROUP, ("claimindexes",), ("create", "patch")),
        rule("", ("events",), ("create", "patch")),
        # At its start it looks whether these are there, and says so if not.
        named(
            "scheduling.k8s.io", ("priorityclasses",), ("get",), (LOCKED_CLASS, PREEMPTIBLE_CLASS)
        ),
        named(
            "admissionregistration.k8s.io",
            ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
            ("get",),
            policies,
        ),
        *codecs.rules(),
    ]


def served_namespaces(wanted: Sequence[str], namespace: str, codecs: KindCodecs) -> tuple[str, ...]:
    """The namespaces to be served: those wanted, our own, and those that dialects stand on."""
    own = (there for dialect in codecs.dialects for there, _ in dialect.headrooms if there)
    pods = (there for dialect in codecs.dialects for there in dialect.namespaces)
    return tuple(dict.fromkeys((*wanted, namespace, *own, *pods))) if wanted else ()


def _parted(rules: list[Json], codecs: KindCodecs) -> tuple[list[Json], list[Json]]:
    """Rules apart: what is needed everywhere, and what only where namespaces are served.

    Everything is read everywhere, because room is judged by all pods there are; what has a
    namespace is written only in those that are served.
    """
    unscoped = {kind.plural for kind in (VOLUMES, *codecs.foreign) if not kind.namespaced}
    everywhere: list[Json] = []
    within: list[Json] = []
    for each in rules:
        for scoped in (False, True):
            names = [
                name
                for name in each["resources"]
                if (name.partition("/")[0] not in unscoped) == scoped
            ]
            reads = [verb for verb in each["verbs"] if verb in READ or not scoped]
            writes = [verb for verb in each["verbs"] if verb not in reads]
            for part, verbs in ((everywhere, reads), (within, writes)):
                if names and verbs:
                    part.append({**each, "resources": names, "verbs": verbs})
    return everywhere, within


def _to_see(codecs: KindCodecs) -> list[Json]:
    """What of a dialect's kinds is in a namespace, and so for who may look there."""
    return [
        rule(kind.group, (kind.plural, f"{kind.plural}/status"), READ)
        for kind in codecs.foreign
        if kind.namespaced
    ]


def _to_write(codecs: KindCodecs) -> list[Json]:
    return [rule(kind.group, (kind.plural,), _WRITE) for kind in codecs.foreign if kind.namespaced]


def _workloads() -> dict[str, tuple[str, ...]]:
    groups = dict.fromkeys(resource.group for resource in WORKLOADS)
    return {
        group: tuple(resource.plural for resource in WORKLOADS if resource.group == group)
        for group in groups
    }


def _lease_rules() -> list[Json]:
    group = "coordination.k8s.io"
    return [
        rule(group, ("leases",), ("create",)),  # A name cannot be asked for here.
        named(group, ("leases",), ("get", "update"), (LEASE_NAME,)),
    ]
