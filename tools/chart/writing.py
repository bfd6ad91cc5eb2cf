"""A tree of merged variants, printed as a template of Helm.

Texts that stand for values (`MARKS`) become expressions; so do fields that `variants` has marked
as a value of the chart: `zz:value:PATH` is printed as it is, `zz:yaml:PATH` as YAML, `zz:with:PATH`
only where it is set.
"""

from __future__ import annotations

import json
import re
from typing import Any

from headroom.wire.yamls import dump
from tools.chart.conditions import Condition, expression
from tools.chart.merging import Fields, Items, Node, Same, Text
from tools.chart.variants import MARKS, TESTS

_MARK = re.compile("|".join(map(re.escape, MARKS)))
# Arguments that are there only where a value is not the usual one.
_SPECIAL_ITEMS = {
    "--pause-image=": (
        '{{- if ne $.Values.pauseImage (include "headroom.usualPauseImage" $) }}',
        '- {{ printf "--pause-image=%s" $.Values.pauseImage | quote }}',
    ),
    "--mountpoint-names=": (
        '{{- with include "headroom.mountpointNames" $ }}',
        '- {{ printf "--mountpoint-names=%s" . | quote }}',
    ),
    "zz:arguments": (
        '{{- with include "headroom.runFlags" $ }}',
        "{{- . | nindent INDENT }}",
    ),
}


def template(node: Node, universe: Condition) -> str:
    """Print an object that is there in the combinations of the universe."""
    lines = _Writer(universe).body(node, 0)
    return "\n".join(lines) + "\n"


def conditional(when: str, lines: list[str]) -> list[str]:
    """Lines that are there under a condition."""
    return [f"{{{{- if {when} }}}}", *lines, "{{- end }}"]


class _Writer:
    def __init__(self, universe: Condition) -> None:
        self._universe = universe

    def body(self, node: Node, indent: int) -> list[str]:
        """The lines of a value, each at this indent."""
        match node:
            case Same(value):
                return self._same(value, indent)
            case Fields(fields):
                return self._fields(fields, indent)
            case Items(items):
                return [
                    line
                    for when, item in items
                    for line in self._when(when, self._item(item, indent, when))
                ]
            case Text():
                return [" " * indent + self._scalar(node)]

    def _within(self, universe: Condition) -> _Writer:
        return _Writer(universe)

    def _when(self, when: Condition, lines: list[str]) -> list[str]:
        if when == self._universe:
            return lines
        return conditional(expression(when, self._universe, TESTS), lines)

    def _same(self, value: Any, indent: int) -> list[str]:
        if "zz" not in json.dumps(value):
            return _indented(dump(value).splitlines(), indent)
        everywhere = self._universe
        if isinstance(value, dict):
            fields = tuple((everywhere, name, Same(inner)) for name, inner in value.items())
            return self.body(Fields(fields), indent)
        if isinstance(value, list):
            return self.body(Items(tuple((everywhere, Same(inner)) for inner in value)), indent)
        return [" " * indent + self._scalar(Same(value))]

    def _fields(self, fields: tuple[tuple[Condition, str, Node], ...], indent: int) -> list[str]:
        # What is always there comes first: an item of a list begins with its first field.
        ordered = sorted(fields, key=lambda field: field[0] != self._universe)
        lines: list[str] = []
        for when, name, node in ordered:
            lines += self._when(when, self._within(when)._field(name, node, indent))
        return lines

    def _field(self, name: str, node: Node, indent: int) -> list[str]:
        space, key = " " * indent, dump({name: 0}).partition(":")[0]
        match node:
            case Same(str() as value) if value.startswith("zz:"):
                return _indented(_marked(key, value, indent), indent)
            case Same(value) if not isinstance(value, dict | list) or not value:
                if isinstance(value, str) and "zz" in value:
                    return [f"{space}{key}: {self._scalar(node)}"]
                return _indented(dump({name: value}).splitlines(), indent)
            case Text():
                return [f"{space}{key}: {self._scalar(node)}"]
        deeper = indent if _is_list(node) else indent + 2
        filled = self._filled(node)
        lines = [f"{space}{key}:", *self._within(filled).body(node, deeper)]
        if filled == self._universe:
            return lines
        empty = f"{space}{key}: {'[]' if _is_list(node) else '{}'}"
        test = expression(filled, self._universe, TESTS)
        return [f"{{{{- if {test} }}}}", *lines, "{{- else }}", empty, "{{- end }}"]

    def _filled(self, node: Node) -> Condition:
        """When there is anything in a list or in an object."""
        match node:
            case Fields(fields):
                return frozenset().union(*(when for when, _, _ in fields))
            case Items(items):
                return frozenset().union(*(when for when, _ in items))
        return self._universe

    def _item(self, node: Node, indent: int, universe: Condition) -> list[str]:
        if isinstance(node, Same) and isinstance(node.value, str):
            for start, (test, line) in _SPECIAL_ITEMS.items():
                if node.value.startswith(start):
                    made = line.replace("INDENT", str(indent))
                    placed = made if made.startswith("{{-") else " " * indent + made
                    return [test, placed, "{{- end }}"]
        lines = self._within(universe).body(node, indent + 2)
        first = lines[0]
        return [first[:indent] + "- " + first[indent + 2 :], *lines[1:]]

    def _scalar(self, node: Node) -> str:
        match node:
            case Same(str() as value) if value in MARKS:
                return f"{{{{ {MARKS[value]} | quote }}}}"
            case Same(str() as value):
                return f'"{_filled_in(value)}"'
            case Text(pieces):
                return f'"{"".join(self._piece(when, text) for when, text in pieces)}"'
        return json.dumps(node.value if isinstance(node, Same) else None)

    def _piece(self, when: Condition, text: str) -> str:
        if when == self._universe:
            return _filled_in(text)
        test = expression(when, self._universe, TESTS)
        return f"{{{{ if {test} }}}}{_filled_in(text)}{{{{ end }}}}"


def _is_list(node: Node) -> bool:
    return isinstance(node, Items) or (isinstance(node, Same) and isinstance(node.value, list))


def _filled_in(text: str) -> str:
    """A text inside double quotes, with expressions in place of the marks."""
    quoted = json.dumps(text, ensure_ascii=False)[1:-1]
    return _MARK.sub(lambda found: f"{{{{ {MARKS[found[0]]} }}}}", quoted)


def _marked(key: str, mark: str, indent: int) -> list[str]:
    _, how, path = mark.split(":")
    value = f"$.Values.{path}"
    match how:
        case "value":
            return [f"{key}: {{{{ {value} }}}}"]
        case "yaml":
            return [f"{key}:", f"  {{{{- toYaml {value} | nindent {indent + 2} }}}}"]
        case "text":
            return [f"{{{{- with {value} }}}}", f"{key}: {{{{ . | quote }}}}", "{{- end }}"]
    return [
        f"{{{{- with {value} }}}}",
        f"{key}:",
        f"  {{{{- toYaml . | nindent {indent + 2} }}}}",
        "{{- end }}",
    ]


def _indented(lines: list[str], indent: int) -> list[str]:
    return [" " * indent + line if line else line for line in lines]
