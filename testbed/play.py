"""A control plane to try things: `python -m testbed.play` (`make cluster`), until Ctrl-C.

The commands to type go to stdout, so that a shell can evaluate them; messages go to stderr.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Sequence

from testbed.binaries import BinariesUnavailable
from testbed.controlplane import ControlPlane
from testbed.gobuild import say


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a control plane until Ctrl-C, SIGTERM or SIGHUP."""
    options = _parser().parse_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        _play(options.hollow, options.fake)
    except BinariesUnavailable as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("stopped")
    return 0


def _play(hollow: int, fake: int) -> None:
    """Start a control plane and print how to reach it; only an interrupt ends this."""
    started = time.monotonic()
    with ControlPlane.start(hollow_nodes=hollow, kwok=fake > 0) as plane:
        if fake:
            plane.wait_nodes_ready(fake, plane.add_fake_nodes(fake))
        say(f"ready after {time.monotonic() - started:.1f} s; Ctrl-C stops it and forgets it all")
        print(f"export KUBECONFIG={plane.kubeconfig}")
        print(f"export PATH={plane.binaries}:$PATH", flush=True)
        say(f"then: kubectl get nodes. Logs are in {plane.workdir / 'logs'}")
        threading.Event().wait()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m testbed.play", description="A real control plane to play with."
    )
    parser.add_argument(
        "--hollow", type=int, default=2, metavar="N", help="hollow kubelets, 75 MB each (default 2)"
    )
    parser.add_argument(
        "--fake", type=int, default=0, metavar="N", help="fake nodes run by kwok (default 0)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
