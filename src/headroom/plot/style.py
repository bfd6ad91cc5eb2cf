"""Colours and fonts as CSS variables: light by default, dark if the reader prefers dark."""

from __future__ import annotations

# Eight tones that people with colour blindness can distinguish; the last is for minor parts.
LIGHT = ("#0b67b2", "#c2410c", "#0f7b5f", "#8b3fa0", "#a16207", "#be185d", "#3f6212", "#6b7280")
DARK = ("#6cb6ff", "#ff9b62", "#4fd1a8", "#d2a8ff", "#e3b341", "#ff8fc0", "#a3d65c", "#9aa4b2")
TONES = len(LIGHT)

_LIGHT_PAGE = "--page:#ffffff;--ink:#1b1f24;--soft:#57606a;--grid:#e3e6ea;--card:#f6f8fa"
_DARK_PAGE = "--page:#0f1318;--ink:#e6edf3;--soft:#9aa4b2;--grid:#2a313a;--card:#171c23"


def _tones(colours: tuple[str, ...]) -> str:
    return ";".join(f"--tone{index}:{colour}" for index, colour in enumerate(colours))


def variables(scope: str) -> str:
    """The variables under one selector (`:root`, or a picture's own), for light and dark."""
    return (
        f"{scope}{{color-scheme:light dark;{_LIGHT_PAGE};{_tones(LIGHT)}}}"
        f"@media (prefers-color-scheme: dark){{{scope}{{{_DARK_PAGE};{_tones(DARK)}}}}}"
    )


def _each_tone() -> str:
    return "".join(
        f".chart .s{index}{{stroke:var(--tone{index})}}.chart .f{index}{{fill:var(--tone{index})}}"
        for index in range(TONES)
    )


CHART = (
    ".chart{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;max-width:100%;height:auto}"
    ".chart text{fill:var(--soft)}.chart .title{fill:var(--ink);font-size:14px;font-weight:600}"
    ".chart .key{fill:var(--ink)}.chart .grid{stroke:var(--grid);stroke-width:1}"
    ".chart .axis{stroke:var(--soft);stroke-width:1}"
    ".chart .line{fill:none;stroke-width:1.8;stroke-linejoin:round}"
    ".chart .dashed{stroke-dasharray:6 4}.chart .area{fill-opacity:.18;stroke:none}"
    ".chart .window{fill-opacity:.14}.chart .level{stroke-width:1.2;stroke-dasharray:2 3}"
    f"{_each_tone()}"
)

PAGE = (
    "body{margin:0;background:var(--page);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif}"
    "main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 3rem}"
    "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}"
    "p{max-width:46rem}footer{color:var(--soft);font-size:.85rem;margin-top:2rem}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{padding:.25rem .6rem;white-space:nowrap;font-size:.9rem;text-align:right}"
    "th,td{border-bottom:1px solid var(--grid)}"
    "th:first-child,td:first-child{text-align:left}th{color:var(--soft);font-weight:600}"
    "tr.chosen td{font-weight:600}"
    "pre{background:var(--card);border:1px solid var(--grid);border-radius:6px;padding:.75rem;"
    "overflow-x:auto;font-size:13px}"
)
