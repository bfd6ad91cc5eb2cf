"""Where in a file a field stands, and the error that says so.

Apart from `documents` because lines are looked up only when something is wrong: nothing is computed
for a good file. Paths are written as Kubernetes writes them: `spec.containers[0].name`, and
`metadata.labels[example.com/app]` for names that hold a dot.
"""

from __future__ import annotations

import re

import yaml

from headroom.errors import HeadroomError

_STEP = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")
_FASTEST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SIMPLE = re.compile(r"[^.\[\]]+")


class ManifestError(HeadroomError):
    """A file that cannot be taken: where exactly, and what is wrong, in one line."""

    exit_code = 2

    def __init__(self, source: str, document: int, line: int, path: str, problem: str) -> None:
        self.source = source
        self.document = document
        self.line = line
        self.path = path
        self.problem = " ".join(problem.split())
        where = f"{source}:{line}" if line else source
        what = f"{path}: {self.problem}" if path else self.problem
        super().__init__(f"{where}: document {document}: {what}")


def step(path: str, name: str | int) -> str:
    """Extend a path by a field's name or a list position."""
    if isinstance(name, int):
        return f"{path}[{name}]"
    if not _SIMPLE.fullmatch(name):
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name


class Lines:
    """The lines of one document; made from its nodes, or from its text when first asked."""

    def __init__(self, root: yaml.Node | None, text: str, first: int) -> None:
        self._root = root
        self._text = text
        self._offset = 0 if root is not None else first - 1
        self.first = first

    @classmethod
    def of_node(cls, root: yaml.Node) -> Lines:
        return cls(root, "", root.start_mark.line + 1)

    @classmethod
    def of_text(cls, text: str, first: int) -> Lines:
        """Take JSON whose first line is number `first` of its file."""
        return cls(None, text, first)

    def find(self, path: str) -> int:
        """Return the line of the field, or of its nearest parent that is there."""
        node = self._node()
        line = self.first
        for bracketed, plain in _STEP.findall(path):
            found = None if node is None else _child(node, bracketed or plain)
            if found is None:
                break
            mark, node = found
            line = mark.line + 1 + self._offset
        return line

    def _node(self) -> yaml.Node | None:
        if self._root is None and self._text:
            try:
                self._root = yaml.compose(self._text, Loader=_FASTEST)
            except yaml.YAMLError:  # JSON that is not quite YAML: the first line must do.
                self._text = ""
        return self._root


def _child(node: yaml.Node, name: str) -> tuple[yaml.Mark, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode):
        if not name.isdecimal() or int(name) >= len(node.value):
            return None
        item: yaml.Node = node.value[int(name)]
        return item.start_mark, item
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == name:
                return key.start_mark, value
    return None
