"""The optional webhook as objects of an installation: who it is, what it may do, where it runs.

An account of its own, so that the operator needs no right to secrets. The webhook reads claim
indexes, keeps its certificates in one Secret (by name; an empty one is installed, so that it need
not create any), and writes into its own registration whom to trust.
"""

from __future__ import annotations

from headroom.core.names import GROUP
from headroom.wire.install.pods import Program, deployment, disruption_budget, network_policy
from headroom.wire.installed_kinds import LABELS, REGISTRATIONS, SECRETS, SERVICES
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import CLAIM_INDEXES, Json
from headroom.wire.rbac import account, binding, cluster_role, named, role, rule
from headroom.wire.webhook import WEBHOOK_NAME, registration

HTTPS_PORT = 8443
# Endpoints are told of a leaving replica while it still answers.
LEAVING_SECONDS = 5


def webhook_objects(
    image: str, namespace: str, codecs: KindCodecs = NATIVE, *, metrics: bool = False
) -> list[Json]:
    """Return the webhook's objects, its registration last: by then it may be there to answer."""
    program = _program(image, namespace, codecs, metrics)
    return [
        *webhook_rights(namespace),
        _secret(namespace),
        _service(program),
        _deployment(program),
        disruption_budget(program),
        network_policy(program, (HTTPS_PORT,)),  # API servers have no label to let them in by.
        registration(namespace, codecs.asks),
    ]


def webhook_rights(namespace: str) -> list[Json]:
    """Return the account, its roles and their bindings."""
    cluster_rules = [
        rule(GROUP, (CLAIM_INDEXES.plural,), ("list", "watch")),
        named(REGISTRATIONS.group, (REGISTRATIONS.plural,), ("get", "patch"), (WEBHOOK_NAME,)),
    ]
    secret = named(SECRETS.group, (SECRETS.plural,), ("get", "update"), (WEBHOOK_NAME,))
    return [
        account(WEBHOOK_NAME, namespace),
        cluster_role(WEBHOOK_NAME, cluster_rules),
        binding(WEBHOOK_NAME, "ClusterRole", namespace),
        role(WEBHOOK_NAME, namespace, [secret]),
        binding(WEBHOOK_NAME, "Role", namespace),
    ]


def _program(image: str, namespace: str, codecs: KindCodecs, metrics: bool) -> Program:
    dialects = (f"--dialect={name}" for name in codecs.names)
    more = ("--metrics",) if metrics else ()
    return Program(
        name=WEBHOOK_NAME,
        component="webhook",
        namespace=namespace,
        replicas=2,
        image=image,
        arguments=("webhook", "--in-cluster", f"--listen=0.0.0.0:{HTTPS_PORT}", *dialects, *more),
        port=("https", HTTPS_PORT),
        resources={"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
    )


def _secret(namespace: str) -> Json:
    """The place for the certificates; applying it again leaves alone what is in it."""
    metadata = {"name": WEBHOOK_NAME, "namespace": namespace, "labels": LABELS}
    return SECRETS.new(metadata, type="Opaque")


def _service(program: Program) -> Json:
    name, _ = program.port
    ports = [{"name": name, "port": 443, "targetPort": name, "protocol": "TCP"}]
    spec = {"selector": program.selector, "ports": ports}
    return SERVICES.new(program.metadata(program.selector), spec=spec)


def _deployment(program: Program) -> Json:
    scratch = {"name": "scratch", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}
    return deployment(
        program,
        {
            # OpenSSL takes a key from a file only, which lives there for a moment.
            "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],
            "lifecycle": {"preStop": {"sleep": {"seconds": LEAVING_SECONDS}}},
        },
        volumes=[scratch],
    )
