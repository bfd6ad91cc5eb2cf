"""A control plane to play with: `python -m testbed.play` (`make cluster`), until Ctrl-C."""

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
    """Start a control plane, say how to reach it, and stop it on Ctrl-C or SIGTERM."""
    options = _parser().parse_args(arguments)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())
    started = time.monotonic()
    try:
        plane = ControlPlane.start(hollow_nodes=options.hollow, kwok=options.fake > 0)
    except BinariesUnavailable as trouble:
        print(trouble, file=sys.stderr)
        return 1
    with plane:
        if options.fake:
            plane.wait_nodes_ready(options.fake, plane.add_fake_nodes(options.fake))
        say(f"ready after {time.monotonic() - started:.1f} s; Ctrl-C stops it and forgets it all")
        print(f"export KUBECONFIG={plane.kubeconfig}")
        print(f"export PATH={plane.binaries}:$PATH", flush=True)
        say(f"then: kubectl get nodes. Logs are in {plane.workdir / 'logs'}")
        ended.wait()
        say("stopping")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m testbed.play", description=__doc__)
    parser.add_argument(
        "--hollow", type=int, default=2, metavar="N", help="hollow kubelets, 95 MB each (default 2)"
    )
    parser.add_argument(
        "--fake", type=int, default=0, metavar="N", help="fake nodes run by kwok (default 0)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
