"""Everything that `headroom install` puts into a cluster, as objects in the order to apply them.

CRDs and priority classes come first, then who the operator is, what it may do (`install.rights`)
and what it may not (`admission_policies`), the operator itself, and last what puts the gate on
pods: the admission policy, or the webhook (`install.webhook`). Nothing here reads a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from headroom.core import names
from headroom.wire.admission_policies.policies import confinement_objects
from headroom.wire.guardians import PAUSE_IMAGE
from headroom.wire.install.dashboard import dashboard_objects
from headroom.wire.install.pods import Program, deployment, disruption_budget, network_policy
from headroom.wire.install.rights import ACCOUNT, rights, served_namespaces
from headroom.wire.install.webhook import webhook_objects
from headroom.wire.installed_kinds import LABELS
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import NAMESPACES, PRIORITY_CLASSES, Json
from headroom.wire.policy import policy_objects

NAMESPACE = "headroom-system"
PROBES_PORT = 8080
METRICS_PORT = 8081


@dataclass(frozen=True, slots=True)
class Installation:
    """What may differ between clusters."""

    image: str
    namespace: str = NAMESPACE
    replicas: int = 2
    arguments: tuple[str, ...] = ()  # further ones of `headroom run`
    policy: bool = True  # the cluster has MutatingAdmissionPolicy (Kubernetes 1.36)
    webhook: bool = False  # the cluster has none, and a webhook is to do the same
    metrics: bool = False  # open to the pod network, not only to a port that is forwarded
    namespaces: tuple[str, ...] = ()  # those that are served; none named: all
    tenant_edit: bool = False  # who may edit a namespace may also reserve there
    confined: bool = True  # with policies that hold our accounts to their work
    dashboard: bool = False  # with the rights around the page
    codecs: KindCodecs = NATIVE  # the dialects that are on


def install_objects(installation: Installation) -> list[Json]:
    """Return every object of an installation; applying them again changes nothing."""
    namespace, codecs = installation.namespace, installation.codecs
    program = _program(installation)
    return [
        *codecs.definitions(),
        *priority_classes(),
        *codecs.classes(),
        _namespace(namespace),
        # Objects of our own kinds are made by the operator: kubectl could not apply them together
        # with their definitions.
        *(made for made in codecs.objects() if made["apiVersion"] != names.API_VERSION),
        *rights(
            namespace,
            codecs,
            tenant_edit=installation.tenant_edit,
            served=served_namespaces(installation.namespaces, namespace, codecs),
        ),
        *(
            confinement_objects(namespace, codecs, codecs.image, webhook=installation.webhook)
            if installation.confined
            else ()
        ),
        *(dashboard_objects(namespace) if installation.dashboard else ()),
        deployment(program, {"ports": _ports(installation)}),
        disruption_budget(program),
        network_policy(program, (METRICS_PORT,) if installation.metrics else ()),
        *(policy_objects(codecs.asks, namespace) if installation.policy else ()),
        *(
            webhook_objects(installation.image, namespace, codecs, metrics=installation.metrics)
            if installation.webhook
            else ()
        ),
    ]


def everything_installed(installation: Installation, every: KindCodecs = NATIVE) -> list[Json]:
    """Return all that may be there to be taken away: what any dialect brought, but no CRD of one.

    Those belong to the system that the dialect speaks for, which may be here as well. `every` has
    all dialects on.
    """
    ours = install_objects(replace(installation, webhook=True, dashboard=True))
    known = {(made["kind"], made["metadata"]["name"]) for made in ours}
    policies = [
        *policy_objects(("any",), installation.namespace),
        *confinement_objects(installation.namespace, every),
    ]
    more = [made for made in policies if (made["kind"], made["metadata"]["name"]) not in known]
    return [*ours, *more, *_own_namespaces(every)]


def _own_namespaces(every: KindCodecs) -> list[Json]:
    """Namespaces that are ours alone; the others belong to the system that a dialect speaks for."""
    spaces = (made for made in every.objects() if made["kind"] == "Namespace")
    return [made for made in spaces if LABELS.items() <= made["metadata"].get("labels", {}).items()]


def priority_classes() -> list[Json]:
    """Return the classes of guardians: those that stay, and those that make way."""
    return [
        _priority_class(
            names.LOCKED_CLASS,
            names.LOCKED_PRIORITY,
            "Guardians of headroom: the room goes to its owners only. Not for pods of your own.",
        ),
        _priority_class(
            names.PREEMPTIBLE_CLASS,
            names.PREEMPTIBLE_PRIORITY,
            "Guardians of headroom that make way for any pod of ordinary priority.",
        ),
    ]


def _priority_class(name: str, value: int, description: str) -> Json:
    return PRIORITY_CLASSES.new(
        {"name": name, "labels": LABELS},
        value=value,
        preemptionPolicy="Never",
        globalDefault=False,
        description=description,
    )


def _namespace(name: str) -> Json:
    labels = {**LABELS, "pod-security.kubernetes.io/enforce": "restricted"}
    return NAMESPACES.new({"name": name, "labels": labels})


def _ports(installation: Installation) -> list[Json]:
    open_ports = {
        "probes": PROBES_PORT,
        **({"metrics": METRICS_PORT} if installation.metrics else {}),
    }
    return [
        {"name": name, "containerPort": number, "protocol": "TCP"}
        for name, number in open_ports.items()
    ]


def _program(installation: Installation) -> Program:
    codecs = installation.codecs
    dialects = [f"--dialect={name}" for name in codecs.names]
    dialects += [flag for dialect in codecs.dialects for flag in dialect.flags]
    if codecs.image != PAUSE_IMAGE:
        dialects.append(f"--pause-image={codecs.image}")
    # Kubelets ask from the node; the numbers are for who may forward a port, unless opened.
    pages = f"--http={'0.0.0.0' if installation.metrics else '127.0.0.1'}:{METRICS_PORT}"
    only = installation.namespaces
    where = (f"--namespaces={','.join(only)}",) if only else ()
    served = (f"--probes=0.0.0.0:{PROBES_PORT}", pages)
    return Program(
        name=ACCOUNT,
        component="operator",
        namespace=installation.namespace,
        replicas=installation.replicas,
        image=installation.image,
        arguments=("run", "--in-cluster", *served, *where, *dialects, *installation.arguments),
        port=("probes", PROBES_PORT),
        resources={"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
    )
