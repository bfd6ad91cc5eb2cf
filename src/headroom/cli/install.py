"""`headroom install` and `uninstall`: apply, print or delete everything that the operator needs.

They use server-side apply with our own field manager, so that the command can be repeated and
changes of others to other fields stay. Uninstalling keeps the CRDs unless requested (all Holds and
Headrooms are deleted with them), and always the namespace (it may contain other objects).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from headroom import __version__
from headroom.cli import options
from headroom.cli.dialects import NAMES, chosen
from headroom.cli.installation.runflags import passed_on
from headroom.cli.output import documents, put, say
from headroom.wire.name_rules import image_problem

DEFAULT_IMAGE = f"headroom:{__version__}"

Home = Annotated[
    str,
    options.option(
        "--namespace -n", "Where the operator lives.", "NAME", callback=options.a_namespace
    ),
]


Image = Annotated[
    str,
    options.option(
        "--image",
        "The operator's image.",
        "IMAGE",
        callback=options.checked("--image", image_problem, needed=True),
    ),
]
Policy = Annotated[
    bool,
    options.option(
        "--policy/--no-policy",
        "Include the admission policy that gates owners (Kubernetes 1.36 or newer).",
    ),
]
Confine = Annotated[
    bool,
    options.option("--confine/--no-confine", "Include the policies that restrict our accounts."),
]
TenantEdit = Annotated[
    bool,
    options.option(
        "--tenant-edit", "Let everybody who may edit a namespace create Holds and Headrooms there."
    ),
]
OpenMetrics = Annotated[bool, options.option("--metrics", "Open metrics to the pod network.")]
Dashboard = Annotated[
    bool,
    options.option(
        "--dashboard",
        "Include the Role for users of the dashboard, and the operator's permission to "
        "review tokens.",
    ),
]
Webhook = Annotated[
    bool,
    options.option(
        "--webhook",
        "Include the webhook, for clusters without that policy (before Kubernetes 1.36).",
    ),
]
RunFlags = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="-- FLAGS",
        help="Further flags of `headroom run`, for the operator: -- --most-slots 50",
        show_default=False,
    ),
]


def install(
    run_flags: RunFlags = None,
    dry_run: options.DryRun = options.Dry.NONE,
    namespace: Home = "headroom-system",
    image: Image = DEFAULT_IMAGE,
    policy: Policy = True,
    webhook: Webhook = False,
    confine: Confine = True,
    tenant_edit: TenantEdit = False,
    namespaces: options.Namespaces = "",
    metrics: OpenMetrics = False,
    dashboard: Dashboard = False,
    dialect: options.Dialects = None,
    pause_image: options.PauseImage = "",
    mountpoint_names: options.MountpointNames = "",
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = "",
) -> None:
    """Apply all that the operator needs, and the operator.

    CRDs, PriorityClasses, RBAC, the Deployment and the admission policy (or the webhook that does
    its work where there is none), by server-side apply.
    """
    from headroom.wire.manifests import Installation, install_objects

    codecs = chosen(dialect, mountpoint_names, pause_image)
    objects = install_objects(
        Installation(
            image,
            namespace,
            policy=policy,
            webhook=webhook,
            confined=confine,
            tenant_edit=tenant_edit,
            namespaces=options.read_namespaces(namespaces),
            metrics=metrics,
            dashboard=dashboard,
            codecs=codecs,
            arguments=passed_on(run_flags or (), dialect or ()),
        )
    )
    if _sent(objects, dry_run, (str(kubeconfig or ""), context)):
        say(f"installed; next: kubectl -n {namespace} rollout status deployment/headroom-operator")


def uninstall(
    dry_run: options.DryRun = options.Dry.NONE,
    namespace: Home = "headroom-system",
    crds: Annotated[
        bool, options.option("--crds", "Delete the CRDs too, with every Hold and Headroom.")
    ] = False,
    namespaces: options.Namespaces = "",
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = "",
) -> None:
    """Take away what install applied; owners keep running."""
    from headroom.wire.manifests import Installation, everything_installed

    everything = everything_installed(
        Installation(DEFAULT_IMAGE, namespace, namespaces=options.read_namespaces(namespaces)),
        chosen(NAMES),
    )
    stays = {"Namespace"} if crds else {"Namespace", "CustomResourceDefinition"}
    objects = [item for item in reversed(everything) if item["kind"] not in stays]
    if not _sent(objects, dry_run, (str(kubeconfig or ""), context), delete=True):
        return
    say(f"namespace {namespace} stays: it may contain other objects")
    if not crds:
        say("the CRDs, Holds, Headrooms and their guardians stay: --crds deletes them too")


def _sent(
    objects: Sequence[dict[str, Any]],
    dry_run: options.Dry,
    cluster: tuple[str, str],
    delete: bool = False,
) -> bool:
    """Apply the objects, or delete them; False if it was only a dry run.

    `cluster` is the kubeconfig file and the context.
    """
    if dry_run is options.Dry.CLIENT:
        put(documents(objects))
        return False
    import asyncio

    from headroom.cli.installation.object_client import apply_all, delete_all

    dry = dry_run is options.Dry.SERVER
    asyncio.run((delete_all if delete else apply_all)(objects, *cluster, dry))
    if dry:
        say("nothing was changed: server dry run")
    return not dry
