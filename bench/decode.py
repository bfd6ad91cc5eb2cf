"""The cost of decoding a large pod list: our decoder, plain JSON and the official client.

    python -m bench.decode [--pods N] [--client-python PYTHON] [-o table|json]

Each decoder runs in its own process (`decode_one`), on the same bytes (`pods`). The official client
is not a dependency: `pip install -r bench/requirements.txt` installs it into a separate
environment, whose interpreter `--client-python` names. Aim: a tenth of its CPU and of its memory.
PEAK includes the list's own text, which all of them read completely; KEPT is what stays afterwards.

Baseline (2 shared cores, Python 3.11, kubernetes 37.0.2; 20,000 pods, 131 MB): headroom 0.81 s, 146
MB, 15 MB; json.loads 4.6, 5.7 and 47 times; official 32, 16 and 150 times.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.pods import write_list

ROOT = Path(__file__).resolve().parent.parent
NAMES = {"ours": "headroom", "json": "json.loads", "official": "official client"}
Measured = dict[str, float]


def run(name: str, python: str, file: Path) -> Measured | None:
    """Measure one decoder; None if its interpreter does not have it."""
    command = [python, "-m", "bench.decode_one", name, str(file)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return None if "missing" in result else result


def table(results: dict[str, Measured], size: int, pods: int) -> str:
    """Format the results, each as a multiple of ours."""
    ours = results["ours"]
    lines = [
        f"{pods} pods, {size / 1e6:.0f} MB of JSON",
        f"{'DECODER':<16} {'CPU':>9} {'x':>6} {'PEAK':>9} {'x':>6} {'KEPT':>9} {'x':>6}",
    ]
    for name, result in results.items():
        cells = [f"{NAMES[name]:<16}", f"{result['cpu_s']:>7.2f} s", _ratio(result, ours, "cpu_s")]
        for field in ("peak", "kept"):
            cells += [f"{result[field] / 1e6:>6.0f} MB", _ratio(result, ours, field)]
        lines.append(" ".join(cells))
    return "\n".join(lines)


def _ratio(result: Measured, ours: Measured, field: str) -> str:
    return f"{result[field] / ours[field]:>6.1f}" if ours[field] > 0 else f"{'-':>6}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench decode", description=__doc__.splitlines()[0])
    parser.add_argument("--pods", type=int, default=20_000)
    parser.add_argument("--client-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pods.json"
        with file.open("w") as out:
            write_list(out, options.pods)
        size = file.stat().st_size
        pythons = {
            "ours": sys.executable,
            "json": sys.executable,
            "official": options.client_python,
        }
        tried = {name: run(name, python, file) for name, python in pythons.items()}
    results = {name: result for name, result in tried.items() if result is not None}
    if options.output == "json":
        print(json.dumps({"pods": options.pods, "bytes": size, "decoders": results}))
    else:
        print(table(results, size, options.pods))
    if "official" not in results:
        print(
            "the official client is not installed; in another environment:\n"
            "  pip install -r bench/requirements.txt && "
            "python -m bench.decode --client-python THAT/bin/python",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
