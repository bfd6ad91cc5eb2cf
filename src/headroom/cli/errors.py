"""Report errors to the user: one clear line, a hint, the right exit code.

Every command runs through `guarded`. An expected error is a `HeadroomError`, which has its own exit
code. Any other exception is a bug of ours: it is reported in one line, with the traceback on
request. `headroom.errors` has the base class of the errors.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from headroom.errors import HeadroomError

YES = 0
NO = 1
MISUSE = 2
BUG = 4  # 3 is an unreachable cluster: see `kube.errors`
INTERRUPTED = 130

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")
DEBUG_VARIABLE = "HEADROOM_DEBUG"
DISK_TROUBLE = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT)


class NegativeAnswer(HeadroomError):
    """The command was valid and the answer is no: not found, not held, expectation failed."""

    exit_code = NO


class Misuse(HeadroomError):
    """The command line is wrong."""

    exit_code = MISUSE


class Unwritable(HeadroomError):
    """The result cannot be written to its file."""

    exit_code = MISUSE


def parsed(named: str, parse: Callable[[str], Value], text: str) -> Value:
    """Parse a text of the command line; raise Misuse with the name of its flag if it is wrong."""
    try:
        return parse(text)
    except ValueError as trouble:
        raise Misuse(f"{named}: {trouble}") from trouble


def guarded(body: Callable[[], object]) -> int:
    """Run a command and return its exit code; print a traceback only on request."""
    try:
        body()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else YES
    except HeadroomError as trouble:
        _tell(trouble.message, trouble.hint)
        _traceback_if_asked()
        return trouble.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as bug:  # The last handler: all expected errors are caught above.
        _tell(f"this is a bug in headroom: {type(bug).__name__}: {bug}", _where_details_are(bug))
        _traceback_if_asked()
        return BUG
    return YES


def until_the_reader_leaves(verb: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """End a command silently if the reader of its output (`head`, `less`) has closed the pipe."""

    @wraps(verb)
    def run(*arguments: Parameters.args, **options: Parameters.kwargs) -> None:
        try:
            verb(*arguments, **options)
            sys.stdout.flush()
        except BrokenPipeError:
            _silence_stdout()
        except OSError as trouble:
            if trouble.errno not in DISK_TROUBLE:
                raise
            _silence_stdout()
            reason = trouble.strerror or str(trouble)
            raise Unwritable(f"the output cannot be written: {reason}", "make room") from trouble

    return run


def _tell(message: str, hint: str) -> None:
    sys.stderr.write(f"headroom: {message}\n")
    if hint:
        sys.stderr.write(f"  {hint}\n")


def _where_details_are(bug: BaseException) -> str:
    frames = traceback.extract_tb(bug.__traceback__)
    place = f"in {frames[-1].name}, line {frames[-1].lineno}; " if frames else ""
    return f"{place}run it again with {DEBUG_VARIABLE}=1 for the traceback, and please report it"


def _traceback_if_asked() -> None:
    if os.environ.get(DEBUG_VARIABLE):
        traceback.print_exc()


def _silence_stdout() -> None:
    """Prevent the interpreter from reporting the closed pipe when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
