"""Typed reading of JSON text, with errors that say where in the object they are.

Everything that decodes goes through a `Reader`; msgspec's errors end here. `Raw` parts are text
that is kept aside and read later (and only once per spelling, see `intern`); `spelling` copies
them out, because a Raw keeps the whole response alive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import msgspec

from headroom.wire.errors import DecodeError

S = TypeVar("S")
T_co = TypeVar("T_co", covariant=True)
Time = Annotated[datetime, msgspec.Meta(tz=True)]
ABSENT = msgspec.Raw(b"")


class Reader(Generic[T_co]):
    """Reads one type from JSON text; fields it does not know are skipped."""

    __slots__ = ("_decoder",)

    def __init__(self, wanted: type[T_co]) -> None:
        self._decoder = msgspec.json.Decoder(wanted)

    def __call__(self, text: bytes | msgspec.Raw, path: str = "") -> T_co:
        """Read the text that stands at `path` of its object."""
        try:
            return self._decoder.decode(text)
        except msgspec.MsgspecError as error:
            problem, _, inner = str(error).partition(" - at `$")
            # Inside a map msgspec does not say which key; the map is then as near as we get.
            inner = inner.rstrip("`").removesuffix("[...]")
            raise DecodeError("", join(path, inner), problem) from error
        except UnicodeDecodeError as error:
            raise DecodeError("", path, "the text is not UTF-8") from error
        except RecursionError as error:
            raise DecodeError("", path, "nested too deeply") from error


def join(path: str, inner: str) -> str:
    """Put two paths together: `spec` and `.ttl` or `[0]`."""
    return path + inner if path else inner.removeprefix(".")


def spelling(raw: msgspec.Raw) -> bytes:
    """Copy a part's text out of its response; empty when absent or null."""
    if raw is ABSENT:  # Most parts of most objects: nothing to copy.
        return b""
    text = bytes(raw)
    return b"" if text == b"null" else text


def spellings(*parts: msgspec.Raw) -> list[bytes]:
    """The texts of several parts; a call for each would be a tenth of the reading of a pod."""
    found = []
    for raw in parts:
        text = b"" if raw is ABSENT else bytes(raw)
        found.append(b"" if text == b"null" else text)
    return found


class _AnyMetadata(msgspec.Struct, rename="camel"):
    name: Any = None
    namespace: Any = None
    uid: Any = None
    resource_version: Any = None


class AnyObject(msgspec.Struct):
    """Whatever is an object: only which one it is can be made out."""

    metadata: _AnyMetadata | None = None


class Identity(NamedTuple):
    """Which object a text is about, as well as it can be made out; empty where it cannot."""

    namespace: str
    name: str
    uid: str
    version: str


NOBODY = Identity("", "", "", "")
_any_object = msgspec.json.Decoder(AnyObject)


def identity_of(text: bytes | msgspec.Raw) -> Identity:
    """Make out which object a text is about, however odd the rest of it is."""
    try:
        return identity_in(_any_object.decode(text))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return NOBODY


def identity_in(thing: AnyObject | None) -> Identity:
    """Which object it is; empty texts for what it does not say."""
    found = thing.metadata if thing is not None else None
    if found is None:
        return NOBODY
    parts = (found.namespace, found.name, found.uid, found.resource_version)
    return Identity(*(part if isinstance(part, str) else "" for part in parts))


def subject_of(kind: str, text: bytes | msgspec.Raw) -> str:
    """Say which object a text is about: `Pod/default/web-0`."""
    found = identity_of(text)
    return "/".join(part for part in (kind, found.namespace, found.name) if part)


def about(kind: str, text: bytes | msgspec.Raw, error: DecodeError) -> DecodeError:
    """The same error, naming its object."""
    return DecodeError(error.subject or subject_of(kind, text), error.path, error.problem)


class Decoder(Generic[T_co]):
    """Reads objects of one kind: a shape from the JSON text, then the core value from the shape.

    A DecodeError names the object and the path of what is wrong.
    """

    __slots__ = ("_decode", "_kind")

    def __init__(self, kind: str, shape: type[S], make: Callable[[S], T_co]) -> None:
        read = Reader(shape)
        self._kind = kind
        self._decode: Callable[[bytes | msgspec.Raw], T_co] = lambda data: make(read(data))

    def __call__(self, data: bytes | msgspec.Raw) -> T_co:
        try:
            return self._decode(data)
        except DecodeError as error:
            raise about(self._kind, data, error) from error

    def plain(self, thing: Mapping[str, Any]) -> T_co:
        """Read an object held as plain dicts."""
        return self(to_text(self._kind, thing))


def to_text(kind: str, thing: Mapping[str, Any]) -> bytes:
    """Write an object held as plain dicts as JSON text."""
    try:
        return msgspec.json.encode(thing)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise DecodeError(kind, "", f"cannot be written as JSON: {error}") from error
