"""Names that Kubernetes takes: of namespaces, of objects, of images."""

from __future__ import annotations

import re

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_NAME = re.compile(_LABEL)
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_PART = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?"
_IMAGE = re.compile(
    rf"(?:{_HOST}/)?{_PART}(?:/{_PART})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]+:[a-f0-9]{32,128})?"
)


def namespace_problem(name: str) -> str:
    """Why this cannot be a namespace; empty if it can."""
    if len(name) <= 63 and _LABEL_NAME.fullmatch(name):
        return ""
    return "not a namespace name: use at most 63 lowercase letters, digits and -"


def name_problem(name: str) -> str:
    """Why this cannot be an object's name; empty if it can."""
    if len(name) <= 253 and _SUBDOMAIN.fullmatch(name):
        return ""
    return "not an object name: use at most 253 lowercase letters, digits, - and ."


def image_problem(image: str) -> str:
    """Why this cannot be an image; empty if it can."""
    if len(image) <= 512 and _IMAGE.fullmatch(image):
        return ""
    return "not an image; write for example registry.example.com/team/headroom:1.0"
