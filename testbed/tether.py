"""End a program with its parent: `python tether.py PARENT PROGRAM ARGS…` becomes PROGRAM.

The kernel sends SIGKILL to a tethered program when its parent ends, for any reason, so an
interrupted or killed test run leaves nothing behind. This is a separate script that runs before the
program takes its place, because the alternative (`preexec_fn`) is unsafe in a process with threads.
The kernel watches the parent's *thread*; `processes` therefore starts programs from a thread that
never ends.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def tethered(command: list[str]) -> list[str]:
    """The command line that runs `command` so that it ends with this process."""
    if not sys.platform.startswith("linux"):
        return command
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def main() -> None:
    """Request the signal, then become the program, unless the parent has already ended."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        sys.exit(f"tether: prctl: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent:
        sys.exit("tether: the parent is gone")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
