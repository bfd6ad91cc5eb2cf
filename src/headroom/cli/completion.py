"""Shell completion: kinds, names of objects, stories, dialects, contexts.

`headroom --install-completion` installs it. An error (no cluster, a broken file) gives no
completions and no message, because the user is in the middle of a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from headroom.cli.dialects import NAMES as DIALECTS
from headroom.cli.nouns import EXPLAINED, LISTED, NAMES, noun
from headroom.cli.playback.stories import STORIES
from headroom.errors import HeadroomError


def complete_dialect(incomplete: str) -> list[str]:
    """Complete the names of dialects."""
    return [name for name in DIALECTS if name.startswith(incomplete)]


def complete_story(incomplete: str) -> list[str]:
    """Complete the stories of `headroom demo`."""
    return [each.name for each in STORIES if each.name.startswith(incomplete)]


def complete_context(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the contexts of the kubeconfig."""
    from headroom.kube.kubeconfig import contexts

    found = _quietly(lambda: contexts(str(context.params.get("kubeconfig") or "")))
    return [name for name in found if name.startswith(incomplete)]


def complete_kind_or_name(context: typer.Context, args: list[str], incomplete: str) -> list[str]:
    """Complete kinds that can be listed; after a kind, the names of its objects."""
    return _offers(context, _words(context, args), incomplete, LISTED)


def complete_subject(context: typer.Context, args: list[str], incomplete: str) -> list[str]:
    """Complete kinds that can be explained; after a kind, the names of its objects."""
    return _offers(context, _words(context, args), incomplete, EXPLAINED)


def _words(context: typer.Context, args: list[str]) -> list[str]:
    return list(context.params.get("what") or args)


def _offers(
    context: typer.Context, words: list[str], incomplete: str, allowed: tuple[str, ...]
) -> list[str]:
    kind, slash, begun = incomplete.partition("/")
    if slash:
        names = _names(context, _quietly_noun(kind, allowed))
        return [f"{kind}/{name}" for name in names if name.startswith(begun)]
    if not words:
        return [NAMES[each][1] for each in allowed if NAMES[each][1].startswith(incomplete)]
    names = _names(context, _quietly_noun(words[0], allowed))
    return [name for name in names if name.startswith(incomplete) and name not in words]


def _quietly_noun(word: str, allowed: tuple[str, ...]) -> str:
    try:
        return noun(word, allowed)
    except HeadroomError:
        return ""


def _names(context: typer.Context, kind: str) -> list[str]:
    """The names of all objects of a kind, in the namespace that the command line names so far."""
    return _quietly(lambda: _read_names(context, kind)) if kind else []


def _read_names(context: typer.Context, kind: str) -> list[str]:
    from contextlib import redirect_stderr
    from io import StringIO

    from headroom.cli.live.names import names_of
    from headroom.cli.source import look_in

    params = context.params
    access = (str(params.get("kubeconfig") or ""), str(params.get("context") or ""))
    files = tuple(Path(each) for each in params.get("source") or ())
    home = look_in(access, str(params.get("namespace") or ""), files)
    with redirect_stderr(StringIO()):
        return names_of(kind, home, access, files)


def _quietly(look: Callable[[], Iterable[str]]) -> list[str]:
    try:
        return list(look())
    except (HeadroomError, OSError, ValueError):
        return []
