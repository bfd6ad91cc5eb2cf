"""A report of one self-contained page: paragraphs, charts, tables and code, no scripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from headroom.plot.chart import Chart
from headroom.plot.style import CHART, PAGE, variables
from headroom.plot.text import safe
from headroom.terminal_text import escaped

# The page must not load or send anything, whatever its texts contain.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    words: str


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """Rows under headings; those in `chosen` (by index) are highlighted."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    chosen: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """A text to copy."""

    text: str


Part = Paragraph | HtmlTable | Code | Chart


@dataclass(frozen=True, slots=True)
class Section:
    heading: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class HtmlPage:
    title: str
    sections: tuple[Section, ...]
    foot: str = ""

    def html(self) -> str:
        """The whole file."""
        style = f"{variables(':root')}{PAGE}{CHART}"
        lines = [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<title>{safe(self.title)}</title>",
            f"<style>{style}</style></head><body><main>",
            f"<h1>{safe(self.title)}</h1>",
            *(line for section in self.sections for line in _section(section)),
        ]
        if self.foot:
            lines.append(f"<footer>{safe(self.foot)}</footer>")
        return "\n".join([*lines, "</main></body></html>", ""])


def _section(section: Section) -> Iterator[str]:
    if section.heading:
        yield f"<h2>{safe(section.heading)}</h2>"
    for part in section.parts:
        match part:
            case Paragraph():
                yield f"<p>{safe(part.words)}</p>"
            case Code():
                yield f"<pre>{escape(escaped(part.text))}</pre>"
            case Chart():
                yield f'<div class="wide">{part.svg()}</div>'
            case HtmlTable():
                yield from _table(part)


def _table(table: HtmlTable) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{safe(name)}</th>' for name in table.headings)
    # Keyboard users can scroll a wide table.
    told = f'tabindex="0" role="region" aria-label="Table: {safe(", ".join(table.headings))}"'
    yield f'<div class="wide" {told}><table><thead><tr>{heads}</tr></thead><tbody>'
    for index, row in enumerate(table.rows):
        kind = ' class="chosen"' if index in table.chosen else ""
        cells = "".join(f"<td>{safe(cell or '-')}</td>" for cell in row)
        yield f"<tr{kind}>{cells}</tr>"
    yield "</tbody></table></div>"
