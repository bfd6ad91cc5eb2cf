"""`headroom simulate`: runs manifests and scenarios on the embedded cluster with the operator.

It connects the simulator and the runtime, which never import each other. The exit code is 0 if all
expectations were met and no invariant was violated, otherwise 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headroom.cli import options, proactive
from headroom.cli.dialects import chosen
from headroom.cli.errors import Misuse, NegativeAnswer, parsed
from headroom.cli.output import OutputFormat, put, put_document, say
from headroom.cli.pages.flags import Html, JournalFile, Serve, ShownFlags, Svg
from headroom.cli.run import AcrossNamespaces

if TYPE_CHECKING:
    from headroom.core.policy import Policy
    from headroom.sim.scenarios.model import Scenario
    from headroom.sim.scenarios.report import Result
    from headroom.wire.kind_codecs import KindCodecs

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE…", help="Manifests, one Scenario, a dump or a result; - for stdin."
    ),
]
Strict = Annotated[
    bool,
    options.option("--strict", "Refuse kinds that are not simulated, instead of skipping them."),
]
Until = Annotated[str | None, options.option("--until", "Virtual time, such as 10m.", "D")]
Seed = Annotated[int | None, options.option("--seed", "Same seed, same bytes.", "N")]
Start = Annotated[str | None, options.option("--start", "The virtual wall clock.", "TIME")]


def simulate(
    files: Files,
    until: Until = None,
    seed: Seed = None,
    start: Start = None,
    dialect: options.Dialects = None,
    allow_cross_namespace_owners: AcrossNamespaces = False,
    allow_cluster_preallocation: options.ClusterPreallocation = False,
    namespace_limits: options.NamespaceLimits = "",
    mountpoint_names: options.MountpointNames = "",
    reservation_taints_for_all: options.ReservationTaints = False,
    enable_proactive_scaleup: proactive.Enabled = None,
    pod_injection_limit: proactive.PodLimit = None,
    node_limit: proactive.NodeLimit = None,
    proactive_scaleup_threshold: proactive.Threshold = None,
    proactive_scaleup_profile: proactive.ProfileName = None,
    strict: Strict = False,
    proactive_scaleup_requests: proactive.Requests = None,
    proactive_scaleup_namespace: proactive.NamespaceName = None,
    allow_invalid: options.AllowInvalid = False,
    serve: Serve = "",
    html: Html = None,
    svg: Svg = None,
    journal: JournalFile = None,
    output: options.Output = OutputFormat.TABLE,
) -> None:
    """Run manifests and scenarios on the embedded cluster, with the real operator code.

    Exits 1 when an expectation fails, or an object ends invalid or cannot be served.
    """
    from headroom.cli.embedded import with_placeholders
    from headroom.cli.formats.progress import waiting
    from headroom.cli.playback.dialect_detection import dialects_in, once
    from headroom.sim.scenarios.loader import load_scenario
    from headroom.wire.yamls.documents import read_text

    flags: proactive.Flags = (
        *(enable_proactive_scaleup, pod_injection_limit, node_limit, proactive_scaleup_threshold),
        *(proactive_scaleup_profile, proactive_scaleup_requests, proactive_scaleup_namespace),
    )
    ahead, names = proactive.read_with(flags, dialect or ())
    read = once(read_text)
    with waiting(f"reading {', '.join(map(str, files))}"):
        codecs = chosen((*names, *dialects_in(files, read)), mountpoint_names)
        scenario = adjusted(load_scenario(files, codecs, strict, read), until, seed, start)
    scenario = with_placeholders(scenario, ahead)
    policy = options.policy_of(
        allow_cross_namespace_owners,
        allow_cluster_preallocation,
        reservation_taints_for_all,
        namespace_limits,
    )
    result = _played(scenario, codecs, policy, ShownFlags(serve, html, svg, journal))
    if result is not None:
        _tell(result, output, allow_invalid)


def _played(
    scenario: Scenario, codecs: KindCodecs, policy: Policy, shown: ShownFlags
) -> Result | None:
    """Run a scenario, with progress on a terminal; None if it was served and stopped early."""
    from headroom.cli.embedded import embedded_play, found_in
    from headroom.cli.files import lines_into
    from headroom.cli.formats.progress import RunProgress, waiting

    codecs, policy = found_in(scenario, codecs, policy)
    if shown.wanted:
        if shown.journal:
            raise Misuse("--journal leaves the pictures of --serve, --html and --svg no journal")
        from headroom.cli.pages.simulation import PlannedRun as Pictured
        from headroom.cli.pages.simulation_output import show

        return show(Pictured(scenario, codecs, policy), shown)
    with waiting("starting the simulation") as progress, lines_into(shown.journal) as write:
        play = embedded_play(scenario, codecs, policy)
        try:
            if progress.on:
                play.watch(RunProgress(progress).tell)
            if write is not None:
                play.divert(write)
            return play.finish()
        finally:
            play.close()


def _tell(result: Result, output: OutputFormat, allow_invalid: bool) -> None:
    """Print a result; raise Answer if something was not as expected."""
    from headroom.cli.views.results import result_table

    for note in result.notes:
        say(f"note: {note}")
    if output is OutputFormat.TABLE:
        put(result_table(result))
    else:
        put_document(result.parts(), output)
    _judge(result, allow_invalid)


def _judge(result: Result, allow_invalid: bool) -> None:
    """Raise Answer for a run with failed expectations, or with objects that were not served."""
    unserved = [str(each) for each in result.broken]
    if allow_invalid:
        for line in unserved:
            say(f"accepted: {line}")
        unserved = []
    troubles = [*result.failures, *result.violations, *unserved]
    if troubles:
        again = f"replay with --seed {result.seed}"
        raise NegativeAnswer("\n".join(troubles), f"{len(troubles)} not as expected; {again}")


def adjusted(
    scenario: Scenario, until: str | None, seed: int | None, start: str | None
) -> Scenario:
    """Apply the options of the command line to the scenario."""
    from dataclasses import replace

    from headroom.sim.scenarios.validation import start_from

    changes: dict[str, Any] = {} if seed is None else {"seed": seed}
    for name, text, read in (("until", until, _positive), ("start", start, start_from)):
        if text is not None:
            changes[name] = parsed(f"--{name}", read, text)
    return replace(scenario, **changes)


def _positive(text: str) -> float:
    from headroom.wire.durations import parse_duration

    seconds = parse_duration(text).total_seconds()
    if seconds <= 0:
        raise ValueError(f"{text!r} is not a duration")
    return seconds
