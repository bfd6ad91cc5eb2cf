"""`headroom compare`: the same cluster and the same seeds with several configurations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headroom.cli.analysis.recommend import Html, StartWithin
from headroom.cli.errors import Misuse, NegativeAnswer
from headroom.cli.options import Dialects, Output, option
from headroom.cli.output import OutputFormat, document, put, say
from headroom.cli.run import AcrossNamespaces
from headroom.cli.simulate import Seed, Start, Until

if TYPE_CHECKING:
    from headroom.cli.analysis.configurations import Configuration
    from headroom.cli.analysis.runs import ConfigurationRun, Promise
    from headroom.sim.scenarios.model import Scenario
    from headroom.wire.kind_codecs import KindCodecs

MOST_SEEDS = 100
Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE…",
        help="A world (a Scenario, manifests, a dump), and files with Headrooms: one each.",
    ),
]
Vary = Annotated[
    list[str] | None,
    option(
        "--vary",
        "A field of the Headrooms and its values: spec.size.replicas=0,4,8. Repeatable.",
        "PATH=A,B,…",
    ),
]
Seeds = Annotated[int, option("--seeds", "Run each with this many seeds.", "N", min=1)]
Ratio = Annotated[str, option("--promise", "The share of pods that should start in time.", "R")]


def compare(
    files: Files,
    vary: Vary = None,
    seeds: Seeds = 1,
    until: Until = None,
    seed: Seed = None,
    start: Start = None,
    promise: Ratio = "0.99",
    start_within: StartWithin = "2s",
    dialect: Dialects = None,
    allow_cross_namespace_owners: AcrossNamespaces = False,
    html: Html = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Play the same world under several configurations, side by side."""
    from headroom.cli.analysis import comparisons
    from headroom.cli.analysis.configurations import configurations
    from headroom.cli.analysis.inputs import length, ratio
    from headroom.cli.analysis.runs import Promise
    from headroom.cli.dialects import chosen
    from headroom.cli.files import write_file
    from headroom.cli.playback.dialect_detection import dialects_in, once
    from headroom.wire.yamls.documents import read_text

    if seeds > MOST_SEEDS:
        raise Misuse(f"--seeds {seeds}: at most {MOST_SEEDS}")
    read = once(read_text)
    codecs = chosen((*(dialect or ()), *dialects_in(files, read)))
    foreign = {(kind.api_version, kind.kind) for kind in codecs.foreign}
    found = configurations(
        files, vary or (), read, lambda version, kind: (version, kind) in foreign
    )
    promised = Promise(ratio("--promise", promise), length("--start-within", start_within))
    scenarios = _scenarios(found, codecs, read, (until, seed, start))
    runs = _played(scenarios, codecs, promised, (seeds, allow_cross_namespace_owners))
    first = next(iter(scenarios.values()))
    numbers = list(range(first.seed, first.seed + seeds))
    about: dict[str, Any] = {"scenario": first.name, "seeds": numbers}
    told = comparisons.document(runs, about)
    if html is not None:
        write_file(html, comparisons.page(told, runs))
        say(f"{html}: open it in a browser")
    put(comparisons.text(told) if output is OutputFormat.TABLE else document(told, output))
    unsound = [run.name for run in runs if not run.sound]
    if unsound:
        raise NegativeAnswer(f"an invariant was violated: {', '.join(unsound)}")


def _scenarios(
    found: list[Configuration],
    codecs: KindCodecs,
    read: Any,
    last_words: tuple[str | None, int | None, str | None],
) -> dict[str, Scenario]:
    """Load and check each configuration before any is run; all have the same seed."""
    from dataclasses import replace

    from headroom.cli.formats.progress import waiting
    from headroom.cli.simulate import adjusted
    from headroom.sim.scenarios.loader import ScenarioError, load_scenario

    loaded: dict[str, Scenario] = {}
    with waiting("reading the configurations"):
        for each in found:
            try:
                scenario = load_scenario(each.files, codecs, False, each.reader(read))
            except ScenarioError as error:
                if each.changes:
                    raise Misuse(f"{each.name}: {error.message}", error.hint) from error
                raise
            loaded[each.name] = adjusted(scenario, *last_words)
    seeds = {scenario.seed for scenario in loaded.values()}
    if len(seeds) > 1:
        same = min(seeds)
        say(f"note: the files have different seeds; all are played with seed {same}")
        loaded = {name: replace(each, seed=same) for name, each in loaded.items()}
    return loaded


def _played(
    scenarios: dict[str, Scenario],
    codecs: KindCodecs,
    promise: Promise,
    manner: tuple[int, bool],
) -> list[ConfigurationRun]:
    """Run every configuration with every seed, with progress on a terminal."""
    from dataclasses import replace

    from headroom.cli.analysis.runs import ConfigurationRun, promises
    from headroom.cli.embedded import embedded_play
    from headroom.cli.formats.progress import Progress, waiting
    from headroom.cli.formats.progress import RunProgress as Told
    from headroom.core.policy import Policy

    seeds, across = manner
    promised = promises(scenarios, promise)
    runs: list[ConfigurationRun] = []
    notes: dict[str, None] = {}
    for index, (name, scenario) in enumerate(scenarios.items(), 1):
        run = ConfigurationRun(name, promised[name])
        for number in range(seeds):
            words = f"{name} ({index} of {len(scenarios)}): "
            with waiting(f"{words}starting the simulation", Progress()) as progress:
                one = replace(scenario, seed=scenario.seed + number)
                play = embedded_play(one, codecs, Policy(across_namespaces=across))
                if progress.on:
                    play.watch(Told(progress, words).tell)
                try:
                    result = play.finish()
                finally:
                    play.close()
            run.add(result, play.meter.stays, play.meter.now)
            run.held = run.held or play.meter.held_over_time()
            notes.update(dict.fromkeys(result.notes))
        runs.append(run)
    for note in notes:
        say(f"note: {note}")
    return runs
