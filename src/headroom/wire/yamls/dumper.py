"""Objects written as YAML that kubectl reads back unchanged.

PyYAML leaves words such as `y`, `0o17` or `1e3` bare, because by its own rules they are text; by
kubectl's they are not. So whatever either of the two would take for something else is quoted here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from headroom.terminal_text import escaped, is_harmless
from headroom.wire.yamls.loader import PLAIN_WORDS

try:
    from yaml import CSafeDumper as _BaseDumper
except ImportError:  # PyYAML without libyaml: slower, the same text.
    from yaml import SafeDumper as _BaseDumper  # type: ignore[assignment]  # same interface


class _Dumper(_BaseDumper):
    """PyYAML's writer, with quotes also where kubectl needs them and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


for _tag, _pattern, _first in PLAIN_WORDS:
    _Dumper.add_implicit_resolver(_tag, _pattern, list(_first) or [""])


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value.strip("\n") else None
    if not is_harmless(value):  # Also breaks of lines that are none in JSON: read back as spaces.
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_multi_representer(dict, _Dumper.represent_dict)


def dump(data: object) -> str:
    """Write one value; fields keep the order they have."""
    text: str = yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=False,
        width=100,
        allow_unicode=True,
    )
    return escaped(text)  # Inside double quotes YAML has the same codes.


def dump_all(objects: Iterable[Mapping[str, Any]]) -> str:
    """Write objects as documents of one file."""
    return "---\n".join(dump(dict(item)) for item in objects)
