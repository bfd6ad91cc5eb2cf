"""Callers of a TLS port that mean no good: they begin things, and do not end them."""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path

Writer = Callable[[ssl.SSLSocket], None]


def resident_mib(pid: int, field: str = "VmRSS") -> float:
    """Memory of a process now (VmRSS), or the most that it ever had (VmHWM)."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"process {pid} says nothing of {field}")


def _any_certificate() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@contextlib.contextmanager
def callers(port: int, count: int, say: Writer) -> Iterator[list[ssl.SSLSocket]]:
    """So many connections that have said what `say` writes, and stay open as long as they may."""
    context = _any_certificate()
    with contextlib.ExitStack() as stack:
        made: list[ssl.SSLSocket] = []
        for _ in range(count):
            with contextlib.suppress(OSError):  # Whoever is turned away is turned away.
                plain = socket.create_connection(("127.0.0.1", port), timeout=5)
                stack.callback(plain.close)
                caller = stack.enter_context(context.wrap_socket(plain))
                say(caller)
                made.append(caller)
        yield made


def post(path: str, length: int) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    return f"{head}Content-Length: {length}\r\n\r\n".encode()


def unfinished(path: str, size: int) -> Writer:
    """A body of `size` bytes of which the last never comes."""

    def say(caller: ssl.SSLSocket) -> None:
        caller.sendall(post(path, size) + b" " * (size - 1))

    return say


def slow_header(caller: ssl.SSLSocket) -> None:
    caller.sendall(b"POST /claims HTTP/1.1\r\nHost: x\r\nX-Slow: ")


def whole(path: str, body: bytes) -> Writer:
    def say(caller: ssl.SSLSocket) -> None:
        caller.sendall(post(path, len(body)) + body)

    return say


def still_open(made: list[ssl.SSLSocket], seconds: float) -> int:
    """How many of them the other side has not ended after so long."""
    left = set(made)
    with selectors.DefaultSelector() as waiting:
        for caller in made:
            caller.setblocking(False)
            waiting.register(caller, selectors.EVENT_READ)
        end = time.monotonic() + seconds
        while left and (rest := end - time.monotonic()) > 0:
            for key, _ in waiting.select(rest):
                found = key.fileobj
                assert isinstance(found, ssl.SSLSocket)
                try:
                    ended = found.recv(65536) == b""
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    continue
                except OSError:
                    ended = True
                if ended:
                    waiting.unregister(found)
                    left.discard(found)
    return len(left)
