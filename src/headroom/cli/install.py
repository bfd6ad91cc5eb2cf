"""`headroom install` and `uninstall`: everything the operator needs, applied or printed.

Server-side apply under a field manager of our own, so that it can be repeated, and changes that
others made to other fields stay. Uninstalling keeps the CRDs unless asked (with them go all Holds),
and always the namespace (others may live there too).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headroom import __version__
from headroom.cli.options import Context, Kubeconfig
from headroom.cli.output import documents, put, say

if TYPE_CHECKING:
    from headroom.wire.manifests import Installation

Json = dict[str, Any]
DEFAULT_IMAGE = f"headroom:{__version__}"

DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the YAML; touch nothing.")]
Home = Annotated[
    str, typer.Option("--namespace", "-n", metavar="NAME", help="Where the operator lives.")
]
Image = Annotated[str, typer.Option("--image", metavar="IMAGE", help="The operator's image.")]
Policy = Annotated[
    bool,
    typer.Option(
        "--policy/--no-policy",
        help="Include the admission policy that gates owners (Kubernetes 1.36 or newer).",
    ),
]


def install(
    dry_run: DryRun = False,
    namespace: Home = "headroom-system",
    image: Image = DEFAULT_IMAGE,
    policy: Policy = True,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Apply all that the operator needs, and the operator.

    CRDs, PriorityClasses, RBAC, the Deployment and the admission policy, by server-side apply.
    """
    from headroom.wire.manifests import Installation

    objects = _objects(Installation(image=image, namespace=namespace, policy=policy))
    if dry_run:
        put(documents(objects))
        return
    import asyncio

    from headroom.cli.applying import apply_all

    asyncio.run(apply_all(objects, str(kubeconfig or ""), context))
    say(f"installed; next: kubectl -n {namespace} rollout status deployment/headroom-operator")


def uninstall(
    dry_run: DryRun = False,
    namespace: Home = "headroom-system",
    crds: Annotated[
        bool, typer.Option("--crds", help="Delete the CRDs too, and with them every Hold.")
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Take away what install applied; owners keep running."""
    from headroom.wire.manifests import Installation

    everything = _objects(Installation(image=DEFAULT_IMAGE, namespace=namespace))
    stays = {"Namespace"} if crds else {"Namespace", "CustomResourceDefinition"}
    objects = [item for item in reversed(everything) if item["kind"] not in stays]
    if dry_run:
        put(documents(objects))
        return
    import asyncio

    from headroom.cli.applying import delete_all

    asyncio.run(delete_all(objects, str(kubeconfig or ""), context))
    say(f"namespace {namespace} stays: others may live there too")
    if not crds:
        say("the CRDs, Holds and their guardians stay: --crds takes them away too")


def _objects(installation: Installation) -> Sequence[Json]:
    from headroom.wire.manifests import install_objects

    return install_objects(installation)
