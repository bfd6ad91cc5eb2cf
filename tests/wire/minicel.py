"""As much of CEL as our admission policies are written in, so that tests can ask the text itself.

Absent fields are errors as in CEL, `||` and `&&` forgive an error on one side when the other side
decides. Whatever the policies do not use is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any

_TOKEN = re.compile(r"\s*(?:('[^']*')|([A-Za-z_]\w*)|(\d+)|(\|\||&&|==|[!<>+.,()\[\]]))")
Scope = Mapping[str, Any]
Node = Callable[[Scope], Any]


class NoSuchField(Exception):
    """A field was selected that is not there."""


def evaluate(expression: str, scope: Scope) -> Any:
    """The value of an expression; NoSuchField where CEL would fail."""
    return _parsed(expression)(scope)


@cache
def _parsed(expression: str) -> Node:
    parser = _Parser(expression)
    node = parser.either()
    parser.end()
    return node


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens: list[str] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise ValueError(f"cannot read {text[at:]!r}")
            self._tokens.append(match[0].strip())
            at = match.end()
        self._at = 0

    def end(self) -> None:
        if self._at != len(self._tokens):
            raise ValueError(f"what is {self._tokens[self._at :]}?")

    def either(self) -> Node:
        node = self._both()
        while self._take("||"):
            node = _logical(node, self._both(), decides=True)
        return node

    def _both(self) -> Node:
        node = self._compared()
        while self._take("&&"):
            node = _logical(node, self._compared(), decides=False)
        return node

    def _compared(self) -> Node:
        left = self._sum()
        for sign, compare in _COMPARED.items():
            if self._take(sign):
                right = self._sum()
                return lambda scope: compare(left(scope), right(scope))
        return left

    def _sum(self) -> Node:
        node = self._not()
        while self._take("+"):
            left, right = node, self._not()
            node = _added(left, right)
        return node

    def _not(self) -> Node:
        if self._take("!"):
            inner = self._not()
            return lambda scope: not inner(scope)
        return self._selected(self._primary())

    def _primary(self) -> Node:
        if self._take("("):
            inner = self.either()
            self._expect(")")
            return inner
        if self._take("["):
            items = self._listed("]")
            return lambda scope: [item(scope) for item in items]
        token = self._next()
        if token.startswith("'"):
            return lambda scope: token[1:-1]
        if token.isdigit():
            return lambda scope: int(token)
        if self._take("("):
            return _call(token, self._listed(")"))
        return lambda scope: scope[token]

    def _selected(self, node: Node) -> Node:
        while True:
            if self._take("."):
                name = self._next()
                node = self._exists(node) if name == "exists" else _field(node, name)
            elif self._take("["):
                node = _field(node, self.either())
                self._expect("]")
            else:
                return node

    def _exists(self, node: Node) -> Node:
        self._expect("(")
        variable = self._next()
        self._expect(",")
        asked = self.either()
        self._expect(")")
        return lambda scope: _any(asked, [{**scope, variable: item} for item in node(scope)])

    def _listed(self, closing: str) -> list[Node]:
        items = []
        while not self._take(closing):
            items.append(self.either())
            self._take(",")
        return items

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, token: str) -> bool:
        found = self._tokens[self._at : self._at + 1] == [token]
        self._at += found
        return found

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise ValueError(f"{token} is missing before {self._tokens[self._at :]}")


_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda left, right: left == right,
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "in": lambda left, right: left in right,
}


def _added(left: Node, right: Node) -> Node:
    return lambda scope: left(scope) + right(scope)


def _field(node: Node, name: str | Node) -> Node:
    def select(scope: Scope) -> Any:
        found, key = node(scope), name if isinstance(name, str) else name(scope)
        try:
            return found[key]
        except (KeyError, IndexError) as error:
            raise NoSuchField(str(key)) from error

    return select


def _has(node: Node, scope: Scope) -> bool:
    """Whether the last field selected is there; those before it must be."""
    try:
        node(scope)
    except NoSuchField:
        return False
    return True


def _call(name: str, given: list[Node]) -> Node:
    (only,) = given
    match name:
        case "has":
            return lambda scope: _has(only, scope)
        case "size":
            return lambda scope: len(only(scope))
        case "timestamp":
            return lambda scope: datetime.fromisoformat(only(scope))
    raise ValueError(f"what is {name}()?")


def _logical(left: Node, right: Node, *, decides: bool) -> Node:
    def judge(scope: Scope) -> bool:
        trouble = None
        for side in (left, right):
            try:
                if bool(side(scope)) is decides:
                    return decides
            except NoSuchField as error:
                trouble = error
        if trouble is not None:
            raise trouble
        return not decides

    return judge


def _any(asked: Node, scopes: list[Scope]) -> bool:
    return any(asked(scope) for scope in scopes)
