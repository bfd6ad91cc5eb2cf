"""Pages that are received and not drawn: what browsers on other machines cost the operator.

    python -m bench.reader ADDRESS COUNT

Prints `open` when every stream has its first picture, and reads until it is stopped.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp

STREAM = "api/v1/stream"


@contextmanager
def readers(address: str, count: int) -> Iterator[None]:
    """Read this many streams in another process."""
    arguments = [sys.executable, "-m", "bench.reader", address, str(count)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None or process.stdout.readline().strip() != "open":
                raise RuntimeError("the streams of the page could not be opened")
            yield
        finally:
            process.kill()


async def read(address: str, count: int) -> None:
    """Read streams without end."""
    left = count

    async def one(session: aiohttp.ClientSession) -> None:
        nonlocal left
        async with session.get(address + STREAM) as answer:
            answer.raise_for_status()
            first = True
            async for _ in answer.content.iter_any():
                left -= first
                if first and not left:
                    print("open", flush=True)
                first = False

    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        await asyncio.gather(*(one(session) for _ in range(count)))


if __name__ == "__main__":
    asyncio.run(read(sys.argv[1], int(sys.argv[2])))
