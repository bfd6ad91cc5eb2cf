"""Flags of `headroom run` after `--` of `headroom install`, for the installed operator.

The parser of `run` checks them here. Otherwise a mistyped flag would be noticed only when the
operator ends at its start. Flags that the installation sets itself are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headroom.cli.errors import Misuse

# By parameter names of `run`. Permissions, policies or ports depend on these.
DECIDED = ("namespace", "dialect", "namespaces", "pause_image", "mountpoint_names")
UNFIT = ("kubeconfig", "context", "in_cluster", "http", "probes")
OF_THIS_MACHINE = ("price_file",)


def passed_on(words: Sequence[str], dialects: Sequence[str]) -> tuple[str, ...]:
    """Return the flags as the operator's arguments; raise Misuse or the parser's own error."""
    if not words:
        return ()
    given = _given(words)
    for name in given:
        flag = f"--{name.replace('_', '-')}"
        if name in UNFIT:
            raise Misuse(f"-- {flag}: an installed operator has its own")
        if name in OF_THIS_MACHINE:
            raise Misuse(f"-- {flag}: the operator's pod has no such file", "use -- --price")
        if name in DECIDED:
            raise Misuse(
                f"-- {flag}: permissions depend on it", f"headroom install {flag}, before --"
            )
    _check(given, dialects)
    return tuple(
        _written(name, each)
        for name, value in given.items()
        for each in (value if isinstance(value, list | tuple) else (value,))
    )


def _given(words: Sequence[str]) -> dict[str, Any]:
    """The parameters of `run` that are set, in the order of its help."""
    import typer

    from headroom.cli.run import run

    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command("run")(run)
    command = typer.main.get_command(alone)
    parsed = command.make_context("headroom install --", [*words])
    return {
        name: value
        for name in (parameter.name for parameter in command.params)
        if name and _is_written(parsed, name)
        for value in (parsed.params[name],)
    }


def _is_written(parsed: Any, name: str) -> bool:
    source = parsed.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _check(given: dict[str, Any], dialects: Sequence[str]) -> None:
    """Check what the parser leaves to `run`."""
    from headroom.cli import proactive
    from headroom.cli.options import read_limits
    from headroom.cli.pages.prices import read_prices

    read_prices(given.get("price"), None, "")
    read_limits(given.get("namespace_limits", ""))
    flags: proactive.Flags = (
        *(given.get("enable_proactive_scaleup"), given.get("pod_injection_limit")),
        *(given.get("node_limit"), given.get("proactive_scaleup_threshold")),
        *(given.get("proactive_scaleup_profile"), given.get("proactive_scaleup_requests")),
        given.get("proactive_scaleup_namespace"),
    )
    options = proactive.read(flags, dialects)
    if options.enabled and proactive.NAME not in dialects:
        wrong = f"-- {proactive.SWITCH}: it needs rights"
        raise Misuse(wrong, "headroom install --dialect proactive, before --")


def _written(name: str, value: Any) -> str:
    flag = f"--{name.replace('_', '-')}"
    return flag if value is True else f"{flag}={value}"
