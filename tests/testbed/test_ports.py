"""Ports of two control planes never meet, and none is handed out that somebody listens on."""

from __future__ import annotations

import socket

from testbed.ports import Ports


def test_no_port_is_handed_out_twice() -> None:
    one, two = Ports(), Ports()
    try:
        taken = [ports.take() for _ in range(300) for ports in (one, two)]
        assert len(set(taken)) == 600
    finally:
        one.release()
        two.release()


def test_a_port_in_use_is_passed_over() -> None:
    ports = Ports()
    try:
        with socket.create_server(("127.0.0.1", ports.take() + 1)) as busy:
            assert ports.take() != busy.getsockname()[1]
    finally:
        ports.release()


def test_ports_given_back_can_be_had_again() -> None:
    one, two = Ports(), Ports()
    first = one.take()
    one.release()
    try:
        assert two.take() <= first
    finally:
        two.release()
