"""`headroom run`: the operator. Parses flags and environment; `serve` connects the parts."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from headroom.cli import options, proactive
from headroom.cli.dialects import chosen
from headroom.cli.errors import parsed
from headroom.cli.pages.prices import PoolLabel, Price, PriceFile, read_prices

if TYPE_CHECKING:
    from headroom.runtime.http import Address


class LogLevelName(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class CountedSlots(StrEnum):
    """Whether a DaemonSet without pods shows slots per node to autoscalers."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"

    @property
    def decided(self) -> bool | None:
        return None if self is CountedSlots.AUTO else self is CountedSlots.ALWAYS


class LogForm(StrEnum):
    AUTO = "auto"
    PROSE = "prose"
    JSON = "json"


InCluster = Annotated[
    bool,
    options.setting(
        "--in-cluster",
        "Use the pod's service account. [default: inside a pod, unless a kubeconfig is named]",
    ),
]
Http = Annotated[
    str,
    options.setting(
        "--http",
        "Serve the page, /healthz, /readyz and /metrics here. [default: nowhere]",
        "HOST:PORT",
    ),
]
Probes = Annotated[
    str,
    options.setting(
        "--probes",
        "Serve /healthz and /readyz here, and nothing else. [default: nowhere]",
        "HOST:PORT",
    ),
]
AcrossNamespaces = Annotated[
    bool,
    options.setting(
        "--allow-cross-namespace-owners",
        "Let a hold serve pods of other namespaces, where its owner rules name them.",
    ),
]
OperatorNamespace = Annotated[
    str,
    options.setting(
        "--namespace",
        "Where the Lease and latches live. [default: the pod's own, or headroom-system]",
        "NAME",
        callback=options.a_namespace,
    ),
]
MostSlots = Annotated[
    int,
    options.setting(
        "--most-slots",
        "How many slots one Headroom may have at most, whatever it asks for.",
        "NUMBER",
        min=1,
    ),
]
NodeOverhead = Annotated[
    CountedSlots,
    options.setting(
        "--node-overhead",
        "Show slots per node to Karpenter by a DaemonSet without pods; auto: where it is.",
    ),
]
LogLevel = Annotated[LogLevelName, options.setting("--log-level", "How much to log.")]
LogFormat = Annotated[
    LogForm,
    options.setting(
        "--log-format", "The format of log lines; auto is prose on a terminal and JSON elsewhere."
    ),
]


def run(
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = "",
    in_cluster: InCluster = False,
    namespace: OperatorNamespace = "",
    http: Http = "",
    probes: Probes = "",
    price: Price = None,
    price_file: PriceFile = None,
    pool_label: PoolLabel = "",
    dialect: options.Dialects = None,
    allow_cross_namespace_owners: AcrossNamespaces = False,
    allow_cluster_preallocation: options.ClusterPreallocation = False,
    most_slots: MostSlots = 100_000,
    node_overhead: NodeOverhead = CountedSlots.AUTO,
    pause_image: options.PauseImage = "",
    mountpoint_names: options.MountpointNames = "",
    reservation_taints_for_all: options.ReservationTaints = False,
    namespaces: options.Namespaces = "",
    namespace_limits: options.NamespaceLimits = "",
    enable_proactive_scaleup: proactive.Enabled = None,
    pod_injection_limit: proactive.PodLimit = None,
    node_limit: proactive.NodeLimit = None,
    proactive_scaleup_threshold: proactive.Threshold = None,
    proactive_scaleup_profile: proactive.ProfileName = None,
    proactive_scaleup_requests: proactive.Requests = None,
    proactive_scaleup_namespace: proactive.NamespaceName = None,
    log_level: LogLevel = LogLevelName.INFO,
    log_format: LogFormat = LogForm.AUTO,
) -> None:
    """Run the operator until it is told to stop; prints `ready` once it is synced and leads."""
    from headroom.cli.serve import ServeSettings, start
    from headroom.kube.kubeconfig import find_access
    from headroom.runtime.logs import configure

    flags: proactive.Flags = (
        *(enable_proactive_scaleup, pod_injection_limit, node_limit, proactive_scaleup_threshold),
        *(proactive_scaleup_profile, proactive_scaleup_requests, proactive_scaleup_namespace),
    )
    ahead, names = proactive.read_with(flags, dialect or ())
    policy = options.policy_of(
        allow_cross_namespace_owners,
        allow_cluster_preallocation,
        reservation_taints_for_all,
        namespace_limits,
    )
    settings = ServeSettings(
        namespace=namespace,
        http=_address("--http", http),
        prices=read_prices(price, price_file, pool_label),
        probes=_address("--probes", probes),
        namespaces=options.read_namespaces(namespaces),
        policy=replace(policy, most_slots=most_slots),
        node_overhead=node_overhead.decided,
        codecs=chosen(names, mountpoint_names, pause_image),
        ahead=ahead,
        log_limits=configure(log_level.value, form=log_format.value),
        access=find_access(str(kubeconfig or ""), context, in_cluster),
    )
    start(settings)


def _address(flag: str, text: str) -> Address | None:
    from headroom.runtime.http import Address

    return parsed(flag, Address.parse, text) if text else None
