"""Measure one decoder in its own process: `python -m bench.decode_one NAME FILE`.

Prints one line of JSON: CPU seconds, the peak memory during decoding and the memory kept
afterwards, both above the initial memory of the process. It is separate from `decode`, so that it
runs in any interpreter that has only the decoder.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Decode = Callable[[Path], Any]


def ours() -> Decode:
    """headroom, the whole list at once."""
    from headroom.wire.decode import cut_list, decode_item
    from headroom.wire.kinds import PODS

    def decode(file: Path) -> list[Any]:
        return [decode_item(PODS, raw) for raw in cut_list(PODS, file.read_bytes()).items]

    return decode


def plain() -> Decode:
    """json.loads: plain dicts."""
    return lambda file: json.loads(file.read_bytes())


def official() -> Decode:
    """The official Python client's models."""
    client = import_module("kubernetes.client").ApiClient()

    class Response:
        def __init__(self, text: str) -> None:
            self.data = text

    def decode(file: Path) -> Any:
        response = Response(file.read_text())
        try:
            return client.deserialize(response, "V1PodList")
        except TypeError:  # Newer generations of the client take the text and its type.
            return client.deserialize(response.data, "V1PodList", "application/json")

    return decode


DECODERS: dict[str, Callable[[], Decode]] = {"ours": ours, "json": plain, "official": official}


def memory(field: str) -> int:
    """Parse a line of /proc/self/status, in bytes (VmHWM is this program's own peak)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in /proc/self/status: this benchmark needs Linux")


def measure(name: str, file: Path) -> dict[str, float]:
    """Decode the file once and return the cost."""
    decode = DECODERS[name]()
    gc.collect()
    before = memory("VmRSS")
    began = time.process_time()
    kept = decode(file)
    spent = time.process_time() - began
    peak = memory("VmHWM")
    gc.collect()
    after = memory("VmRSS")
    del kept
    return {"cpu_s": spent, "peak": peak - before, "kept": after - before}


if __name__ == "__main__":
    try:
        print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
    except ImportError as error:
        print(json.dumps({"missing": str(error)}))
