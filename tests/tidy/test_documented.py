"""What people meet has its line in docs/reference: flags, metrics, reasons, events, log lines."""

from __future__ import annotations

import ast
import re

import pytest
from typer.main import get_command

from headroom.cli.main import app
from headroom.runtime.logs import LogEvent
from headroom.runtime.metrics import Metrics
from tests.tidy.tree import page, parsed, python_files

LOGGING = ("debug", "info", "warning", "error")


def verbs() -> list[tuple[str, list[str], list[str]]]:
    """Every verb with its long flags and its environment variables."""
    group = get_command(app)
    found = []
    for name, command in sorted(getattr(group, "commands").items()):  # noqa: B009
        options = [option for option in command.params if option.param_type_name == "option"]
        flags = [flag for option in options for flag in (*option.opts, *option.secondary_opts)]
        variables = [name for option in options for name in _variables(option.envvar)]
        long = [flag for flag in flags if flag.startswith("--") and flag != "--help"]
        found.append((name, long, variables))
    return found


def _variables(given: str | list[str] | None) -> list[str]:
    """A flag may have several: its own, and the one that another system has for it."""
    return [given] if isinstance(given, str) else list(given or ())


@pytest.mark.parametrize(("verb", "flags", "variables"), verbs())
def test_every_verb_and_flag_is_in_the_reference(
    verb: str, flags: list[str], variables: list[str]
) -> None:
    text = page("reference/cli.md")
    section = _section(text, verb)
    assert section, f"docs/reference/cli.md has no section for headroom {verb}"
    shared = "as for `run`" in section or "Same flags as `get`" in section
    missing = [flag for flag in flags if flag not in section and not (shared and flag in text)]
    assert missing == []
    if verb in ("run", "webhook"):
        assert [name for name in variables if name not in section] == []


@pytest.mark.parametrize("program", ["run", "webhook"])
def test_every_flag_of_a_program_can_be_set_in_the_environment(program: str) -> None:
    ((_, flags, variables),) = [entry for entry in verbs() if entry[0] == program]
    expected = [f"HEADROOM_{flag.removeprefix('--').replace('-', '_').upper()}" for flag in flags]
    assert [name for name in variables if name.startswith("HEADROOM_")] == expected


def test_every_metric_is_in_the_reference() -> None:
    text = page("reference/metrics.md")
    for family in Metrics("1").registry.collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        assert f"`{name}`" in text, name


def test_no_metric_of_the_reference_is_invented() -> None:
    families = Metrics("1").registry.collect()
    real = {f"{item.name}_total" if item.type == "counter" else item.name for item in families}
    told = set(re.findall(r"^\| `(headroom_\w+)` \|", page("reference/metrics.md"), re.M))
    assert told == real


def test_every_log_event_is_in_the_reference() -> None:
    text = page("reference/events.md")
    assert [event for event in LogEvent if f"| `{event}` |" not in text] == []
    literal = {
        node.args[0].value
        for path in python_files("src/headroom")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in LOGGING
        and _is_logger(node.func.value)
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    }
    assert sorted(name for name in literal if f"| `{name}` |" not in text) == []


def test_every_reason_is_in_the_reference() -> None:
    """Reasons are the CamelCase words that core and engine put into conditions and events."""
    text = page("reference/events.md")
    missing = sorted(reason for reason in _reasons() if f"`{reason}`" not in text)
    assert missing == []


def _is_logger(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "get_logger"
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("log", "_log")


def _reasons() -> set[str]:
    """The literal reasons: second argument of tell_*, third of Facts."""
    places = {"tell_object": 1, "tell_pod": 1, "Facts": 2}
    found = set()
    for path in python_files("src/headroom/core", "src/headroom/engine"):
        for node in ast.walk(parsed(path)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            place = places.get(node.func.id)
            if place is None or len(node.args) <= place:
                continue
            reason = node.args[place]
            if isinstance(reason, ast.Constant) and isinstance(reason.value, str):
                found.add(reason.value)
    return found


def _section(text: str, verb: str) -> str:
    for part in re.split(r"^## ", text, flags=re.M):
        title = part.partition("\n")[0]
        if f"headroom {verb}" in [name.strip() for name in title.split(",")]:
            return part
    return ""


def test_help_is_written_for_every_option() -> None:
    group = get_command(app)
    silent = [
        f"{name} {option.name}"
        for name, command in sorted(getattr(group, "commands").items())  # noqa: B009
        for option in command.params
        if not getattr(option, "help", None) and option.name != "help"
    ]
    assert silent == []
