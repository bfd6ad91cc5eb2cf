"""Format text and numbers for SVG and HTML: escaped, short, deterministic."""

from __future__ import annotations

from html import escape

from headroom.terminal_text import one_line

MINUTE, HOUR, DAY = 60, 3600, 86400


def safe(text: object) -> str:
    """Escape any text as content or as an attribute's value."""
    return escape(one_line(str(text)), quote=True)


def place(value: float) -> str:
    """A coordinate with at most two decimals: `12.5`, `3`."""
    rounded = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if rounded in ("-0", "") else rounded


def number(value: float) -> str:
    """A number for people: 1,200 and 0.25 and 3.1M."""
    size = abs(value)
    if size >= 10_000_000:
        return f"{value / 1_000_000:.4g}M"
    if size >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(value: float) -> str:
    """A share as percent, with enough digits to differ from 100: `99.95 %`."""
    return f"{value * 100:.6g} %"


def span(seconds: float) -> str:
    """A duration in its two largest units: `45 s`, `1h30m`, `2d`."""
    whole = round(seconds)
    if abs(whole) < MINUTE:
        return f"{seconds:.3g} s"
    sign, whole = ("-" if whole < 0 else ""), abs(whole)
    units = ((DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (1, "s"))
    first = next(index for index, (size, _) in enumerate(units) if whole >= size)
    (large, name), *rest = units[first:]
    said = f"{sign}{whole // large}{name}"
    if rest and (left := whole % large // rest[0][0]):
        said += f"{left}{rest[0][1]}"
    return said
