"""`headroom webhook`: adds the gate to owners on clusters without admission policies for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from headroom.cli.dialects import chosen
from headroom.cli.errors import parsed
from headroom.cli.options import Context, Dialects, Kubeconfig, a_namespace, setting
from headroom.cli.run import InCluster, LogForm, LogFormat, LogLevel

if TYPE_CHECKING:
    from headroom.webhook.process import WebhookSettings

Home = Annotated[
    str,
    setting(
        "--namespace",
        "Where its Secret lives. [default: the pod's own, or headroom-system]",
        "NAME",
        callback=a_namespace,
    ),
]
Listen = Annotated[
    str,
    setting(
        "--listen", "Answer API servers here, over TLS; also /healthz and /readyz.", "HOST:PORT"
    ),
]
OpenMetrics = Annotated[bool, setting("--metrics", "Serve /metrics on the same port too.")]


def webhook(
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    in_cluster: InCluster = False,
    namespace: Home = "",
    listen: Listen = ":8443",
    dialect: Dialects = None,
    metrics: OpenMetrics = False,
    log_level: LogLevel = LogLevel.INFO,
    log_format: LogFormat = LogForm.AUTO,
) -> None:
    """Run the webhook that gates owners, on clusters without MutatingAdmissionPolicy.

    A process of its own beside the operator; `headroom install --webhook` brings it. Makes and
    renews its certificates itself. Prints one line, `ready`, once it answers.
    """
    import asyncio

    from headroom.cli.serve import home_of
    from headroom.kube.kubeconfig import find_access
    from headroom.runtime.http import Address
    from headroom.runtime.logs import configure
    from headroom.webhook.process import WebhookSettings

    codecs = chosen(dialect)
    address = parsed("--listen", Address.parse, listen)
    configure(log_level.value, form=log_format.value)
    access = find_access(str(kubeconfig or ""), context, in_cluster)
    home = home_of(access, namespace)
    settings = WebhookSettings(access, home, address.host, address.port, codecs, metrics)
    asyncio.run(_serve(settings))


async def _serve(settings: WebhookSettings) -> None:
    """Create a replica inside the running loop, and run it until a signal arrives."""
    from headroom.cli.live.signals import stopping_on_signals
    from headroom.cli.serve import announce
    from headroom.webhook.process import Webhook

    replica = Webhook(settings, announce)
    with stopping_on_signals(replica.stop):
        await replica.run()
