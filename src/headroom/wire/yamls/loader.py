"""Plain values from YAML text: PyYAML parses, kubectl's rules say what a plain word means.

Those rules are YAML 1.1 in Go's dialect, not PyYAML's: `yes` is true, `0644` is octal, `1e3` is a
number, `1:30` and dates stay words; a number as a field's name becomes text. Names written twice
are refused, because one of the two would be lost in silence. `documents` takes whole files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from headroom.wire.yamls.lines import ManifestError, step

try:
    from yaml import CSafeLoader as _BaseLoader
except ImportError:  # PyYAML without libyaml: slower, the same answers.
    from yaml import SafeLoader as _BaseLoader  # type: ignore[assignment]  # same interface

MAX_VALUES = 5_000_000  # A file of a few hundred bytes can name billions through its aliases.

_STR = "tag:yaml.org,2002:str"
_BOOL = "tag:yaml.org,2002:bool"
_INT = "tag:yaml.org,2002:int"
_FLOAT = "tag:yaml.org,2002:float"
_NULL = "tag:yaml.org,2002:null"
_MERGE = "tag:yaml.org,2002:merge"


class _Loader(_BaseLoader):
    """PyYAML's parser with kubectl's reading of plain words."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's protocol


# Tag, what the whole word looks like, and the characters it may begin with.
PLAIN_WORDS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    (_BOOL, re.compile(r"^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$"), "yYtToO"),
    (_BOOL, re.compile(r"^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$"), "nNfFoO"),
    (_NULL, re.compile(r"^(?:~|null|Null|NULL)$"), "~nN"),
    (_NULL, re.compile(r"^$"), ""),
    (_MERGE, re.compile(r"^<<$"), "<"),
    (
        _INT,
        re.compile(
            r"^[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]+|0|[1-9][0-9_]*)$",
        ),
        "-+0123456789",
    ),
    (
        _FLOAT,
        re.compile(
            r"^[-+]?(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9_]+)?$"
            r"|^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$"
        ),
        "-+.0123456789",
    ),
)

for _tag, _pattern, _first in PLAIN_WORDS:
    _Loader.add_implicit_resolver(_tag, _pattern, list(_first) or [""])


def compose_all(text: str) -> Iterator[yaml.Node]:
    """Yield the root node of each document."""
    loader = _Loader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is not None:
                yield node
    finally:
        loader.dispose()


def expanded_size(root: yaml.Node) -> int:
    """How many values a document has once every alias is written out; each node is seen once."""
    sizes: dict[int, int] = {}
    waiting: list[tuple[yaml.Node, bool]] = [(root, False)]
    while waiting:
        node, done = waiting.pop()
        inner = _inner(node)
        if done:
            sizes[id(node)] = 1 + sum(sizes.get(id(each), 0) for each in inner)
        elif id(node) not in sizes:
            sizes[id(node)] = 0  # Of an alias that contains itself, which is told elsewhere.
            waiting.append((node, True))
            waiting.extend((each, False) for each in inner)
    return sizes[id(root)]


def _inner(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


class YamlReader:
    """Makes plain values of one document's nodes."""

    def __init__(self, source: str, index: int) -> None:
        self._source = source
        self._index = index
        self._open: set[int] = set()
        self._count = 0

    def value(self, node: yaml.Node, path: str) -> Any:
        """Return the node's value; `path` is where it stands, for messages."""
        self._count += 1
        if self._count > MAX_VALUES:
            raise self._error(node, path, f"more than {MAX_VALUES} values; check its aliases")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if id(node) in self._open:
            raise self._error(node, path, "an alias that contains itself")
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self.value(item, step(path, i)) for i, item in enumerate(node.value)]
            return self._mapping(node, path)
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: yaml.Node, path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                for name, value in self._merge(value_node, path).items():
                    merged.setdefault(name, value)
                continue
            name = self._name(key_node, path)
            if name in found:
                raise self._error(key_node, step(path, name), "written twice; keep one of them")
            found[name] = self.value(value_node, step(path, name))
        return {**merged, **found} if merged else found

    def _merge(self, node: yaml.Node, path: str) -> dict[str, Any]:
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        found: dict[str, Any] = {}
        for part in parts:
            value = self.value(part, path)
            if not isinstance(value, dict):
                raise self._error(part, path, "<< takes a mapping, or a list of mappings")
            found = {**value, **found}
        return found

    def _name(self, node: yaml.Node, path: str) -> str:
        """Return a field's name, spelled as kubectl spells keys that are not words."""
        if not isinstance(node, yaml.ScalarNode):
            raise self._error(node, path, "the name of a field must be a string")
        value = self._scalar(node, path)
        if value is None:
            raise self._error(node, path, "the name of a field must not be null; quote it")
        if isinstance(value, bool):
            return "true" if value else "false"
        return f"{value:g}" if isinstance(value, float) else str(value)

    def _scalar(self, node: yaml.ScalarNode, path: str) -> Any:
        text = node.value
        match node.tag:
            case tag if tag == _STR:
                return text
            case tag if tag == _BOOL:
                return text[:1] in "yYtT" or text in ("on", "On", "ON")
            case tag if tag == _NULL:
                return None
            case tag if tag in (_INT, _FLOAT):
                number = _number(text)
                if number is None:
                    raise self._error(node, path, f"{text} has no form in JSON")
                return number
        raise self._error(node, path, f"the tag {node.tag} is not understood; leave it out")

    def _error(self, node: yaml.Node, path: str, message: str) -> ManifestError:
        return ManifestError(self._source, self._index, node.start_mark.line + 1, path, message)


def _number(text: str) -> int | float | None:
    """Read a number as Go does, and keep it as Go's JSON does: whole ones that fit are integers."""
    plain = text.replace("_", "").lower()
    sign = -1 if plain.startswith("-") else 1
    digits = plain.lstrip("+-")
    if re.fullmatch(r"0[0-7]+", digits):
        digits = f"0o{digits[1:]}"
    try:
        whole = sign * int(digits, 0)
    except ValueError:
        pass
    else:
        if -(2**63) <= whole < 2**63:
            return whole
    try:
        value = float(plain)
    except ValueError:
        return None
    if value != value or value in (float("inf"), float("-inf")):
        return None
    return int(value) if value.is_integer() and abs(value) < 2**63 else value
