"""Ports of two control planes never meet, and none is handed out that somebody listens on."""

from __future__ import annotations

import socket
from contextlib import closing

from testbed.ports import Ports


def test_no_port_is_handed_out_twice() -> None:
    with closing(Ports()) as one, closing(Ports()) as two:
        taken = [ports.take() for _ in range(300) for ports in (one, two)]
    assert len(set(taken)) == 600


def test_a_port_in_use_is_passed_over() -> None:
    with closing(Ports()) as ports:
        port = ports.take()
    with socket.create_server(("127.0.0.1", port)), closing(Ports()) as ports:
        assert port not in [ports.take() for _ in range(5)]
