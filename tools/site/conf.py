"""How `make site` turns docs/ and examples/ into pages that need nothing but a web server.

Sphinx reads the Markdown where it lies, so that every link between files is checked as it is
written. The menu is made here: pages stay plain Markdown, which forges show as well.
"""

from __future__ import annotations

from typing import Any

project = "Headroom"
author = "The Headroom authors"
copyright = author
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "examples/**.md",
    "deploy/chart/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = [".*", "build", "dist", "src", "tests", "testbed", "bench", "tools"]

# Links are spelled as for forges; what leads nowhere is a warning, and `make site` allows none.
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]

html_theme = "furo"
html_title = "Headroom"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_extra_path = ["extra"]
html_search_scorer = "tools/site/scorer.js"
highlight_language = "none"  # A block without a language is text: shell lines, pictures.
html_theme_options: dict[str, list[str]] = {"top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "monokai"

MENU = (
    ("Learn", ["docs/tutorial/*", "docs/concepts/*"]),
    ("Do", ["docs/guides/*", "examples/README"]),
    ("Operate", ["docs/operating/*", "deploy/chart/README", "SECURITY"]),
    ("Look up", ["docs/reference/*", "docs/reference/behaviours/*", "CHANGELOG"]),
    ("Build on it", ["CONTRIBUTING", "docs/internals/*"]),
    ("Why it is so", ["docs/decisions/*"]),
)


def setup(app: Any) -> None:
    """Give the first page the menu."""
    app.connect("source-read", add_menu)


def add_menu(app: Any, name: str, source: list[str]) -> None:
    """Add a hidden table of contents to the first page, and to no other."""
    if name != root_doc:
        return
    for title, pages in MENU:
        listed = "\n".join(f"/{page}" for page in pages)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {title}\n\n{listed}\n```\n"
