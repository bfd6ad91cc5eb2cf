"""Parse the value of `-o`, with kubectl's names, and report errors at once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headroom.cli.errors import Misuse
from headroom.cli.formats.jsonpath import BadPath, Part, Path, parse_path, parse_template


class Layout(StrEnum):
    """The output formats."""

    TABLE = "table"
    WIDE = "wide"
    NAME = "name"
    JSON = "json"
    YAML = "yaml"
    JSONPATH = "jsonpath"
    COLUMNS = "custom-columns"


@dataclass(frozen=True, slots=True)
class Form:
    """A format and its parameters: the parts of a template, or columns by their headings."""

    look: Layout = Layout.TABLE
    template: tuple[Part, ...] = ()
    columns: tuple[tuple[str, Path], ...] = ()

    @property
    def is_table(self) -> bool:
        return self.look in (Layout.TABLE, Layout.WIDE)


def read_form(text: str) -> Form:
    """Parse the value of `-o`; raise Misuse if it is wrong."""
    word, equals, argument = text.partition("=")
    try:
        look = Layout(word)
    except ValueError:
        known = "table, wide, name, json, yaml, jsonpath=TEMPLATE, custom-columns=HEADING:PATH,…"
        raise Misuse(f"-o {text}: there is no such output format", f"there are: {known}") from None
    if look not in (Layout.JSONPATH, Layout.COLUMNS):
        if equals:
            raise Misuse(f"-o {text}: {word} takes no value")
        return Form(look)
    if not argument:
        example = "{.items[*].metadata.name}" if look is Layout.JSONPATH else "NAME:.metadata.name"
        raise Misuse(f"-o {word}: a value is missing", f"write for example -o {word}='{example}'")
    try:
        if look is Layout.JSONPATH:
            return Form(look, template=parse_template(argument))
        return Form(look, columns=tuple(_column(each) for each in split(argument, "[(", "])")))
    except BadPath as trouble:
        raise Misuse(f"-o {word}: {trouble}") from trouble


def _column(text: str) -> tuple[str, Path]:
    heading, colon, path = text.partition(":")
    if not colon or not heading or not path:
        raise Misuse(
            f"-o custom-columns: {text!r} is no column",
            "write HEADING:PATH, such as ON:.status.node",
        )
    return heading, parse_path(path)


def split(text: str, opening: str, closing: str) -> list[str]:
    """Split at commas, except those inside brackets of these kinds."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in opening) - (letter in closing)
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return found
