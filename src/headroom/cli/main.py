"""The `headroom` command: registers every subcommand and handles errors.

Each subcommand has its own file. Subcommands import heavy modules inside their functions, so that
`headroom --help` is fast. The program is also installed as `kubectl-headroom`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from io import TextIOWrapper
from typing import Annotated

import typer

from headroom import __version__
from headroom.cli.analysis.compare import compare
from headroom.cli.analysis.recommend import recommend
from headroom.cli.crds import crds
from headroom.cli.demo import demo
from headroom.cli.describe import describe
from headroom.cli.dump import dump
from headroom.cli.errors import guarded, until_the_reader_leaves
from headroom.cli.explain import explain
from headroom.cli.get import get
from headroom.cli.install import install, uninstall
from headroom.cli.live.version import version
from headroom.cli.options import option
from headroom.cli.output import put
from headroom.cli.pages.dashboard import dashboard
from headroom.cli.pages.view import view
from headroom.cli.plan import plan
from headroom.cli.proactive import SWITCH
from headroom.cli.reserve import release, reserve
from headroom.cli.run import run
from headroom.cli.simulate import simulate
from headroom.cli.top import top
from headroom.cli.webhook import webhook
from headroom.terminal_text import escaped_streams

HELP = """Keep Kubernetes capacity ready, and hand it to the pods it was kept for.

New here? `headroom demo` plays a story on an embedded cluster; nothing else is needed.
"""

# Flags whose value is optional, and the value that they have without one.
ALONE = {SWITCH: "true", "--dry-run": "client"}
EPILOGUE = (
    "Exit codes: 0 yes, 1 no (an answer), 2 misuse, 3 cannot reach the cluster, 4 a bug of ours."
)

app = typer.Typer(
    name="headroom",
    help=HELP,
    epilog=EPILOGUE,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


for verb in (
    demo,
    simulate,
    compare,
    run,
    get,
    describe,
    explain,
    plan,
    recommend,
    top,
    view,
    dashboard,
    reserve,
    release,
    dump,
    crds,
    install,
    uninstall,
    webhook,
    version,
):
    # The whole first line of the docstring: help would cut it after 45 characters.
    app.command(short_help=(verb.__doc__ or "").partition("\n")[0])(until_the_reader_leaves(verb))


def _print_version(wanted: bool) -> None:
    if wanted:
        put(__version__)
        raise typer.Exit


@app.callback()
def every_verb(
    version: Annotated[
        bool,
        option("--version", "Print the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """The options before the subcommand."""


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """The command line with a value for every flag that was given without one."""
    return [f"{each}={ALONE[each]}" if each in ALONE else each for each in arguments]


@cache
def _command() -> Callable[..., object]:
    """All subcommands with their options; built once, because building them is slow."""
    return typer.main.get_command(app)


def run_command(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    with escaped_streams():
        return guarded(lambda: _command()(args=spelled_out(arguments), prog_name="headroom"))


def main() -> None:
    """The entry point of `headroom` and of `kubectl headroom`."""
    # numpy's linear algebra, which we do not use, starts a thread for each core of the machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # Escape what cannot be shown.
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run_command(sys.argv[1:]))
