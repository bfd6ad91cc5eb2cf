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
from headroom.cli.dialects import NAMES, chosen
from headroom.cli.installation.runflags import passed_on
from headroom.cli.options import (
    Context,
    Dialects,
    Dry,
    DryRun,
    Kubeconfig,
    MountpointNames,
    Namespaces,
    PauseImage,
    a_namespace,
    checked,
    option,
    read_namespaces,
)
from headroom.cli.output import documents, put, say
from headroom.wire.name_rules import image_problem

DEFAULT_IMAGE = f"headroom:{__version__}"

Home = Annotated[
    str, option("--namespace -n", "Where the operator lives.", "NAME", callback=a_namespace)
]


Image = Annotated[
    str,
    option(
        "--image",
        "The operator's image.",
        "IMAGE",
        callback=checked("--image", image_problem, needed=True),
    ),
]
Policy = Annotated[
    bool,
    option(
        "--policy/--no-policy",
        "Include the admission policy that gates owners (Kubernetes 1.36 or newer).",
    ),
]
Confine = Annotated[
    bool, option("--confine/--no-confine", "Include the policies that restrict our accounts.")
]
TenantEdit = Annotated[
    bool,
    option(
        "--tenant-edit", "Let everybody who may edit a namespace create Holds and Headrooms there."
    ),
]
OpenMetrics = Annotated[bool, option("--metrics", "Open metrics to the pod network.")]
Dashboard = Annotated[
    bool,
    option(
        "--dashboard",
        "Include the Role for users of the dashboard, and the operator's permission to "
        "review tokens.",
    ),
]
Webhook = Annotated[
    bool,
    option(
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
    dry_run: DryRun = Dry.NONE,
    namespace: Home = "headroom-system",
    image: Image = DEFAULT_IMAGE,
    policy: Policy = True,
    webhook: Webhook = False,
    confine: Confine = True,
    tenant_edit: TenantEdit = False,
    namespaces: Namespaces = "",
    metrics: OpenMetrics = False,
    dashboard: Dashboard = False,
    dialect: Dialects = None,
    pause_image: PauseImage = "",
    mountpoint_names: MountpointNames = "",
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Apply all that the operator needs, and the operator.

    CRDs, PriorityClasses, RBAC, the Deployment and the admission policy (or the webhook that does
    its work where there is none), by server-side apply.
    """
    from headroom.wire.manifests import Installation, install_objects

    speech = chosen(dialect, mountpoint_names, pause_image)
    objects = install_objects(
        Installation(
            image,
            namespace,
            policy=policy,
            webhook=webhook,
            confined=confine,
            tenant_edit=tenant_edit,
            namespaces=read_namespaces(namespaces),
            metrics=metrics,
            dashboard=dashboard,
            speech=speech,
            arguments=passed_on(run_flags or (), dialect or ()),
        )
    )
    if _sent(objects, dry_run, (str(kubeconfig or ""), context)):
        say(f"installed; next: kubectl -n {namespace} rollout status deployment/headroom-operator")


def uninstall(
    dry_run: DryRun = Dry.NONE,
    namespace: Home = "headroom-system",
    crds: Annotated[
        bool, option("--crds", "Delete the CRDs too, with every Hold and Headroom.")
    ] = False,
    namespaces: Namespaces = "",
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Take away what install applied; owners keep running."""
    from headroom.wire.manifests import Installation, everything_installed

    everything = everything_installed(
        Installation(DEFAULT_IMAGE, namespace, namespaces=read_namespaces(namespaces)),
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
    objects: Sequence[dict[str, Any]], dry_run: Dry, cluster: tuple[str, str], delete: bool = False
) -> bool:
    """Apply the objects, or delete them; False if it was only a dry run.

    `cluster` is the kubeconfig file and the context.
    """
    if dry_run is Dry.CLIENT:
        put(documents(objects))
        return False
    import asyncio

    from headroom.cli.installation.object_client import apply_all, delete_all

    dry = dry_run is Dry.SERVER
    asyncio.run((delete_all if delete else apply_all)(objects, *cluster, dry))
    if dry:
        say("nothing was changed: server dry run")
    return not dry
