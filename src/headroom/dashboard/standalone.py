"""The page as one file: styles, scripts and data included; it loads and sends nothing.

Its Content-Security-Policy names the hash of its own script and style, so that nothing else runs
even if text from an object became markup. That cannot happen either: the data is in a JSON block in
which `<` is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from headroom.dashboard.pages import SCRIPTS, asset

_TAGS = re.compile(r'<script src="static/[^"]+" defer></script>\n')
_STYLE = '<link rel="stylesheet" href="static/style.css">'
_ICON = '<link rel="icon" href="static/icon.svg" type="image/svg+xml">\n'
_SCREENED = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def standalone(data: Mapping[str, Any]) -> str:
    """The whole page with its data: `snapshot`, and the details of nodes and rows."""
    script = "\n".join(asset(name).decode() for name in SCRIPTS)
    style = asset("style.css").decode()
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    )
    page = asset("index.html").decode()
    page = page.replace(
        '<meta charset="utf-8">',
        f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
    )
    page = page.replace(_ICON, "").replace(_STYLE, f"<style>{style}</style>")
    page = _TAGS.sub("", page)
    inside = (
        f'<script type="application/json" id="data">{_screened(data)}</script>\n'
        f"<script>{script}</script>\n</body>"
    )
    return page.replace("</body>", inside)


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _screened(data: Mapping[str, Any]) -> str:
    """JSON in which no character can end the surrounding block."""
    text = msgspec.json.encode(data).decode()
    return "".join(_SCREENED.get(letter, letter) for letter in text)
