"""Print how large and how coupled the engine is, each number beside its target: `make shape`.

The numbers should become smaller: lines, classes that keep state, functions that one owner passes,
repeated names. A number above its target is not an error; it shows what remains to do. `--names`
also prints what was counted.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.passage import passage

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "headroom"
CONSTRUCTORS = ("__init__", "__post_init__")
MUTATORS = (
    *("add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem"),
    *("popleft", "remove", "setdefault", "sort", "update"),
)
CONTAINERS = ("dict", "list", "set", "OrderedDict", "defaultdict", "deque")
HELPERS = ("drop", "insort", "heappush", "heappop", "heapify")
SOURCE_LINES = 52_347  # when this was first counted: src is not to grow by what is made plainer
NO_GERUNDS = ("string", "king", "ring", "thing")


@dataclass(frozen=True, slots=True)
class Measure:
    """One number. `aim` is its target, the maximum; None if there is only a direction."""

    what: str
    count: int
    aim: int | None
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.aim is None:
            return f"{self.what:<58} {self.count:>7,}    fewer"
        mark = "ok" if self.count <= self.aim else "aim"
        return f"{self.what:<58} {self.count:>7,}    {mark} {self.aim:,}"


def measures() -> tuple[Measure, ...]:
    """Every number, in the order in which it is printed."""
    core, engine = _lines("core"), _lines("engine")
    states = stateful_classes(_modules("engine"))
    passed = passage()
    twice = _repeated_classes()
    gerunds = tuple(_gerunds())
    return (
        Measure("lines of code in core", core, None),
        Measure("lines of code in engine", engine, None),
        Measure("lines of code in both", core + engine, 10_500),
        Measure("lines of code in src", _lines(""), SOURCE_LINES),
        Measure("classes in engine that keep state", len(states), 12, tuple(states)),
        Measure("attributes of these classes", sum(states.values()), None),
        Measure("functions that an owner at door 2 passes", len(passed), 45, passed),
        Measure("modules that it passes", len({name.split(":")[0] for name in passed}), None),
        Measure("isinstance() of a size", *_isinstance_of_size()),
        Measure("modules named by gerunds", len(gerunds), 0, gerunds),
        Measure("class names that occur twice or more", len(twice), 0, twice),
    )


def stateful_classes(modules: Mapping[str, ast.Module]) -> dict[str, int]:
    """Classes that change after their construction, each with the number of its attributes."""
    return {
        f"{name}:{found.name}": len(_attributes(found))
        for name, module in modules.items()
        for found in ast.walk(module)
        if isinstance(found, ast.ClassDef) and _changes(found)
    }


def _changes(found: ast.ClassDef) -> bool:
    """Whether a class is a container, or a method changes an attribute after the construction."""
    bases = (each.value if isinstance(each, ast.Subscript) else each for each in found.bases)
    if any(isinstance(base, ast.Name) and base.id in CONTAINERS for base in bases):
        return True
    methods = (each for each in found.body if isinstance(each, ast.FunctionDef))
    return any(
        _is_change(node)
        for method in methods
        if method.name not in CONSTRUCTORS
        for node in ast.walk(method)
    )


def _is_change(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            return any(_is_own(target) for each in targets for target in _parts(each))
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return _is_own(target)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in MUTATORS:
            return _is_own(value)
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in HELPERS:
            return _is_own(first)
    return False


def _parts(target: ast.expr) -> Sequence[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple) else (target,)


def _is_own(node: ast.expr) -> bool:
    """Whether an expression is an attribute of self, or a part of one: `self.x[key]`."""
    while True:
        match node:
            case ast.Attribute(value=ast.Name(id="self")):
                return True
            case ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr="setdefault")):
                node = inner
            case _:
                return False


def _attributes(found: ast.ClassDef) -> set[str]:
    fields = {
        each.target.id
        for each in found.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    stored = {
        node.attr
        for node in ast.walk(found)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    return fields | stored


def _isinstance_of_size() -> tuple[int, None, tuple[str, ...]]:
    found = tuple(
        f"{name}:{node.lineno}"
        for name, module in _modules("").items()
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
        and ast.unparse(node.args[0]).rpartition(".")[2] == "size"
    )
    return len(found), None, found


def _gerunds() -> Iterator[str]:
    for name in _modules(""):
        stem = name.rpartition("/")[2]
        if stem.endswith("ing") and stem not in NO_GERUNDS:
            yield name


def _repeated_classes() -> tuple[str, ...]:
    names = Counter(
        node.name
        for module in _modules("").values()
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
    )
    return tuple(sorted(name for name, count in names.items() if count > 1))


@cache
def _modules(package: str) -> dict[str, ast.Module]:
    """The modules below a package, by their path without ending."""
    return {
        str(path.relative_to(SOURCE).with_suffix("")): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((SOURCE / package).rglob("*.py"))
    }


def lines_of_code(text: str) -> int:
    """The number of lines with code: not blank, no comment and no docstring."""
    stripped = (line.strip() for line in text.splitlines())
    lines = {number for number, line in enumerate(stripped, 1) if line and line[0] != "#"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


@cache
def _lines(package: str) -> int:
    paths = (SOURCE / package).rglob("*.py")
    return sum(lines_of_code(path.read_text(encoding="utf-8")) for path in paths)


def main(arguments: Sequence[str]) -> None:
    for measure in measures():
        print(measure)
        if "--names" in arguments:
            for name in measure.names:
                print(f"    {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
