"""`headroom version`: our version; with `--cluster` also the features of the cluster's version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from headroom import __version__
from headroom.cli.options import Context, Kubeconfig, Output, option
from headroom.cli.output import OutputFormat, columns, document, put, say

if TYPE_CHECKING:
    from headroom.kube.features import Abilities

AskCluster = Annotated[bool, option("--cluster", "Ask the cluster for its version and features.")]


def version(
    cluster: AskCluster = False,
    output: Output = OutputFormat.TABLE,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Print the version; with --cluster also what the cluster's Kubernetes can do."""
    from headroom.kube.versions import SUPPORTED_RANGE

    found = _asked(str(kubeconfig or ""), context) if cluster else None
    if output is not OutputFormat.TABLE:
        put(document(_told(found), output))
    elif found is None:
        put(__version__)
        say(f"for Kubernetes {SUPPORTED_RANGE}; --cluster shows the features of yours")
    else:
        put(_table(found))
    if found is not None and found.trouble:
        say(f"warning: {found.trouble}")


def _asked(kubeconfig: str, context: str) -> Abilities:
    import asyncio

    from headroom.kube.client import Client
    from headroom.kube.cluster import KubeCluster
    from headroom.kube.features import abilities
    from headroom.kube.kubeconfig import find_access

    async def ask() -> Abilities:
        async with Client(find_access(kubeconfig, context)) as client:
            return await abilities(client, await KubeCluster(client).probe())

    return asyncio.run(ask())


def _table(found: Abilities) -> str:
    supported = "no" if found.trouble else "yes"
    head = columns(
        ["HEADROOM", "KUBERNETES", "SUPPORTED"], [[__version__, found.kubernetes, supported]]
    )
    rows = [
        [feature.name, "yes" if there else "no", feature.means if there else feature.without]
        for feature, there in found.features
    ]
    return f"{head}\n\n{columns(['FEATURE', 'HERE', 'MEANS'], rows)}"


def _told(found: Abilities | None) -> dict[str, Any]:
    from headroom.kube.versions import NEWEST, OLDEST

    told: dict[str, Any] = {
        "headroom": __version__,
        "supports": {"oldest": str(OLDEST), "newest": str(NEWEST)},
    }
    if found is not None:
        features = {feature.name: there for feature, there in found.features}
        told["kubernetes"] = found.kubernetes
        told["supported"] = not found.trouble
        told["features"] = features
    return told
