"""Things that look harmless in a line and are not in a system; each with the reason it is out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.tidy.tree import functions, parsed, python_files, short, tracked_files

DETERMINISTIC = ("src/headroom/core", "src/headroom/scheduling", "src/headroom/engine")
CLOCKS = {
    ("time", "time"),
    ("time", "monotonic"),
    ("time", "sleep"),
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
}
# Where a person may not have meant to leave a trace of a machine or of a registry.
MACHINE_PATH = re.compile(r"(?<![\w.$~])/(?:home|root|Users|work)/[\w.-]+")
REGISTRY_HOST = re.compile(
    r"https?://[^\s\"'<>)]*(?:pypi|pythonhosted|artifact|nexus|jfrog|proxy\.golang|goproxy)[^\s\"'<>)]*",
    re.I,
)
# A real control plane has its own pace, so what waits for it may poll; and on the virtual clock a
# sleep takes no time.
MAY_SLEEP = (
    "tests/e2e/",
    "tests/contract/kube_",
    "tests/scheduling/lockstep",
    "tests/sim/",
    "tests/stories/real",
    "tests/testbed/",
)
# A person acts on an exception net only where the process would otherwise die, and where one
# object's trouble would otherwise become everybody's.
DRIVERS = {
    "src/headroom/cli/errors.py",
    "src/headroom/dashboard/hub.py",
    "src/headroom/engine/error_isolation/quarantine.py",
    "src/headroom/kube/cluster.py",
    "src/headroom/runtime/operator.py",
    "src/headroom/limited_server.py",
    "src/headroom/wire/safe_decode.py",
}


def test_the_deterministic_packages_know_no_clock_and_no_chance() -> None:
    found = [
        _place(path, node)
        for path in python_files(*DETERMINISTIC)
        for node in ast.walk(parsed(path))
        if _is_clock(node) or _imports(node, {"random", "secrets", "time", "uuid"})
    ]
    assert found == []


def test_only_the_command_line_prints() -> None:
    found = [
        _place(path, node)
        for path in python_files("src/headroom")
        if "cli" not in path.parts
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert found == []


def test_no_assert_guards_shipped_code() -> None:
    """They vanish under -O."""
    found = [
        _place(path, node)
        for path in python_files("src")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Assert)
    ]
    assert found == []


def test_nobody_catches_everything_outside_the_drivers() -> None:
    found = [
        _place(path, node)
        for path in python_files("src")
        if short(path) not in DRIVERS
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ExceptHandler) and _catches_everything(node)
    ]
    assert found == []


def test_every_ignored_type_error_has_a_reason() -> None:
    pattern = re.compile(r"#\s*type:\s*ignore(\[[\w, -]+\])?(.*)")
    bare = []
    for path in python_files("src", "tests", "testbed", "bench"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = pattern.search(line)
            if match and (not match[1] or not re.match(r"\s+#\s*\S", match[2])):
                bare.append(f"{short(path)}:{number}")
    assert [place for place in bare if not place.startswith("tests/tidy/test_banned.py")] == []


def test_a_todo_names_its_issue() -> None:
    pattern = re.compile(r"\b(?:TODO|FIXME|XXX)\b(?!\(#\d+\))")
    found = [
        f"{short(path)}:{number}"
        for path in python_files("src", "tests", "testbed", "bench")
        if path.name != "test_banned.py"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def test_no_test_patches_internals() -> None:
    found = [
        _place(path, node)
        for path in python_files("tests")
        for node in ast.walk(parsed(path))
        if _imports(node, {"unittest.mock", "mock"})
    ]
    assert found == []


def test_no_test_sleeps_without_saying_why() -> None:
    """Where nothing real is waited for, a sleep is either too long or too short."""
    found = [
        _place(path, node)
        for path in python_files("tests")
        if not short(path).startswith(MAY_SLEEP)
        for node in ast.walk(parsed(path))
        if (_is_call(node, "time", "sleep") or _is_positive_sleep(node))
        and "  # " not in _line(path, node)
    ]
    assert found == []


def test_the_names_of_tests_are_claims() -> None:
    short_names = [
        f"{short(path)}:{found.lineno} {found.name}"
        for path in python_files("tests")
        if path.name.startswith("test_")
        for found in functions(path)
        if found.name.startswith("test_") and found.name.count("_") < 2
    ]
    assert short_names == []


def test_no_file_knows_this_machine_or_a_registry() -> None:
    found = []
    for path in tracked_files():
        if path.name == "test_banned.py":
            continue
        text = _text(path)
        for pattern in (MACHINE_PATH, REGISTRY_HOST):
            found += [f"{short(path)}: {match[0]}" for match in pattern.finditer(text)]
    assert found == []


def _place(path: Path, node: ast.AST) -> str:
    return f"{short(path)}:{getattr(node, 'lineno', 0)}"


def _line(path: Path, node: ast.AST) -> str:
    return path.read_text(encoding="utf-8").splitlines()[getattr(node, "lineno", 1) - 1]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def _is_clock(node: ast.AST) -> bool:
    return any(_is_call(node, module, name) for module, name in CLOCKS)


def _is_call(node: ast.AST, module: str, name: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
        and isinstance(node.func.value, ast.Name | ast.Attribute)
        and (node.func.value.id if isinstance(node.func.value, ast.Name) else node.func.value.attr)
        == module
    )


def _is_positive_sleep(node: ast.AST) -> bool:
    """asyncio.sleep(0) lets others run; anything longer waits for the wall clock."""
    if not (isinstance(node, ast.Call) and _is_call(node, "asyncio", "sleep") and node.args):
        return False
    first = node.args[0]
    return not (isinstance(first, ast.Constant) and first.value == 0)


def _imports(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name in names for alias in node.names)
    return isinstance(node, ast.ImportFrom) and node.module in names


def _catches_everything(handler: ast.ExceptHandler) -> bool:
    caught = handler.type
    last = handler.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:
        return False  # It cleans up and passes on.
    return caught is None or (
        isinstance(caught, ast.Name) and caught.id in ("Exception", "BaseException")
    )
