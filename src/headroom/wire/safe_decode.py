"""Decode one object of many: whatever it contains, the only exception is a DecodeError.

Every object from a cluster or a file is decoded through this module, so that an unexpected object
is reported like any other error and does not end a watch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec import Raw

from headroom.wire.errors import DecodeError, Unreadable
from headroom.wire.objects.reader import subject_of

T = TypeVar("T")
LONGEST_TEXT = 200


def contained(kind: str, data: bytes | Raw, read: Callable[[bytes | Raw], T]) -> T:
    """Read one object; DecodeError says what is wrong with it, also where that is our own fault."""
    try:
        return read(data)
    except (DecodeError, MemoryError):
        raise
    except UnicodeDecodeError as error:  # Parts that are kept as text are read later than others.
        raise DecodeError(subject_of(kind, data), "", "the text is not UTF-8") from error
    except RecursionError as error:
        raise DecodeError(subject_of(kind, data), "", "nested too deeply") from error
    except Exception as error:
        words = f"{type(error).__name__}: {error}"[:LONGEST_TEXT]
        problem = f"could not be read, which is a bug in headroom: {words}"
        raise Unreadable(subject_of(kind, data), "", problem) from error
