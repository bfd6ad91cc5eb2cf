"""One page of all that is promised: each row with its yardstick, its aim, and whether it is met.

Every benchmark of `PARTS` runs in a process of its own and hands in its rows (`rows`). One that
fails is shown with the last line that it said, and the others go on. The page is printed and saved
in `build/bench`, where `comparing` finds it; what each benchmark said is beside it, in NAME.log.
Aims that are missed do not make a run fail: they are aims.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench.rows import RATIO, Aim, Json, OddRows, Row, rows_from

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "bench"
KIND = "BenchPage"
LONGEST_S = 2400.0
STOP_S = 45.0  # A control plane is taken down in order.
SHOWN = 160  # of the last line of a benchmark that failed


@dataclass(frozen=True, slots=True)
class Part:
    """A benchmark of the page, with its options for a whole and for a quick run."""

    name: str
    whole: tuple[str, ...] = ()
    quick: tuple[str, ...] = ()
    files: bool = False  # takes the traces that the user has


PARTS = (
    Part("decide", ("--nodes", "1000", "15000"), ("--nodes", "1000", "15000", "--pods", "100")),
    Part("scale", ("--full",), ("--pods", "500", "--quick")),
    Part("promise", ("--lead", "90"), ("--lead", "90"), files=True),
    Part(
        "handover",
        ("--owners", "400", "--nodes", "40", "--pace", "20", "--arms", "free room,door 2 alone"),
        ("--owners", "60", "--nodes", "6", "--pace", "20", "--arms", "free room,door 2 alone"),
    ),
    Part(
        "reservations",
        ("--sizes", "200,1000,5000", "--nodes", "1000", "--ways", "burst", "--arms", "hold"),
        ("--sizes", "100", "--nodes", "100", "--ways", "burst", "--arms", "hold"),
    ),
    Part("contested", ("--handovers", "1000"), ("--handovers", "50")),
    Part(
        "burst",
        ("--arms", "free room,door 2 node-sized"),
        ("--arms", "free room,door 2 node-sized", "--rounds", "1"),
    ),
    Part(
        "large",
        (),
        ("--nodes", "500", "--pods", "5000", "--seconds", "10", "--owners", "40"),
    ),
    Part(
        "dashboard",
        ("--owners", "0"),
        ("--owners", "0", "--nodes", "1000", "--pods", "5000", "--seconds", "5"),
    ),
)


@dataclass(frozen=True, slots=True)
class Done:
    """What a part gave: rows, or why there are none."""

    name: str
    seconds: float
    rows: tuple[Row, ...] = ()
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page, as it is saved."""

    made: str
    quick: bool
    machine: str
    parts: tuple[Done, ...] = field(default=())

    def to_json(self) -> Json:
        return {
            "kind": KIND,
            "made": self.made,
            "quick": self.quick,
            "machine": self.machine,
            "parts": [
                {
                    "name": part.name,
                    "seconds": round(part.seconds, 1),
                    "failed": part.failed,
                    "rows": [row.to_json() for row in part.rows],
                }
                for part in self.parts
            ],
        }


def read_page(path: Path) -> Page:
    """Read a saved page; OddRows says what is wrong with it."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError) as trouble:
        raise OddRows(f"{path}: cannot be read as a page: {trouble}") from trouble
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise OddRows(f"{path}: this is no page of `make bench` (its kind is not {KIND})")
    listed = found.get("parts")
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise OddRows(f"{path}: parts: a list of objects is expected")
    parts = tuple(
        Done(
            str(each.get("name", "?")),
            _seconds(each.get("seconds"), f"{path}: parts[{index}].seconds"),
            tuple(rows_from(each.get("rows"), f"{path}: parts[{index}].rows")),
            str(each.get("failed", "")),
        )
        for index, each in enumerate(listed)
    )
    made, machine = str(found.get("made", "?")), str(found.get("machine", "?"))
    return Page(made, bool(found.get("quick")), machine, parts)


def _seconds(found: object, where: str) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise OddRows(f"{where}: a number is expected")
    return float(found)


def run_part(part: Part, options: Sequence[str], folder: Path) -> Done:
    """Run one benchmark to its end, and take its rows."""
    log = folder / f"{part.name}.log"
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch, log.open("wb") as said:
        handed_in = Path(scratch) / "rows.json"
        command = [sys.executable, "-m", f"bench.{part.name}", *options, "--rows", str(handed_in)]
        why = _run(command, said.fileno())
        took = time.perf_counter() - began
        if why:
            return Done(part.name, took, failed=f"{why}: {last_line(log)}")
        try:
            found = rows_from(json.loads(handed_in.read_text(encoding="utf-8")), part.name)
        except (OSError, ValueError, OddRows) as trouble:
            return Done(part.name, took, failed=f"handed in no rows: {trouble}")
    return Done(part.name, took, tuple(found))


def _run(command: Sequence[str], output: int) -> str:
    """Run a command in a group of its own; return why it did not end well, or nothing.

    Whatever ends us ends the group, politely at first: a control plane is taken down in order.
    """
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        status = process.wait(LONGEST_S)
    except subprocess.TimeoutExpired:
        return f"did not end within {LONGEST_S:.0f} s"
    finally:
        _end_group(process)
    return f"exit status {status}" if status else ""


def _end_group(process: subprocess.Popen[bytes]) -> None:
    for way in (signal.SIGINT, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            if process.poll() is None or way == signal.SIGKILL:
                os.killpg(process.pid, way)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)


def last_line(log: Path) -> str:
    """The last thing that a benchmark said."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    said = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
    return said if len(said) <= SHOWN else said[: SHOWN - 1] + "…"


NAME, VALUE, YARDSTICK, RATIO_WIDTH, AIM = 35, 12, 28, 9, 9
HEADING = (
    f"{'ROW':<{NAME}}{'MEASURED':>{VALUE}}  {'YARDSTICK':<{YARDSTICK}}"
    f"{'RATIO':>{RATIO_WIDTH}}{'AIM':>{AIM}}"
).rstrip()


def text_of(page: Page) -> Iterator[str]:
    """The page for people, at most 100 columns wide."""
    kind = ", quick: smaller than what the aims mean" if page.quick else ""
    yield f"made {page.made}{kind}"
    yield cut(page.machine, 100)
    yield f"{HEADING}  MET"
    for part in page.parts:
        yield from _part_lines(part)
    judged = [row.met for part in page.parts for row in part.rows if row.met is not None]
    failed = [part.name for part in page.parts if part.failed]
    told = f"; failed: {', '.join(failed)}" if failed else ""
    yield f"aims met: {sum(judged)} of {len(judged)}{told}"


def _part_lines(part: Done) -> Iterator[str]:
    if part.failed:
        yield f"{part.name} ({part.seconds:.0f} s)"
        yield f"  failed: {cut(part.failed, 88)}"
    scale = None
    for row in part.rows:
        if row.scale != scale:
            scale = row.scale
            yield cut(f"{part.name} ({part.seconds:.0f} s): {scale}", 100)
        yield line(row)


def line(row: Row) -> str:
    """One row."""
    beside = ""
    if row.yardstick is not None:
        number = amount(row.yardstick, row.unit)
        beside = cut(f"{cut(row.yardstick_name, YARDSTICK - len(number) - 1)} {number}", YARDSTICK)
    ratio = times(row.ratio)
    met = {True: "yes", False: "NO", None: ""}[row.met]
    name = cut(f"  {row.name}", NAME)
    value = cut(amount(row.measured, row.unit), VALUE)
    cells = f"{name:<{NAME}}{value:>{VALUE}}  {beside:<{YARDSTICK}}"
    return f"{cells}{ratio:>{RATIO_WIDTH}}{aim(row):>{AIM}}  {met}".rstrip()


def aim(row: Row) -> str:
    found: Aim | None = row.aim
    if found is None:
        return ""
    return f"{found.sign} {found.limit:g}{' ×' if found.of == RATIO else ''}"


def amount(value: float, unit: str) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def times(ratio: float | None) -> str:
    if ratio is None:
        return ""
    return f"{ratio:.2f} ×" if ratio < 1000 else "> 999 ×"


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def save(page: Page, folder: Path) -> Path:
    """Write a page under the time of its making."""
    name = page.made.replace("-", "").replace(":", "").replace("+0000", "Z")
    path = folder / f"page-{name}.json"
    path.write_text(json.dumps(page.to_json(), ensure_ascii=False, indent=1) + "\n", "utf-8")
    return path


def saved(folder: Path) -> list[Path]:
    """The pages there, the oldest first."""
    return sorted(folder.glob("page-*.json"))


def make(
    parts: Sequence[Part], quick: bool, traces: Sequence[Path], folder: Path = FOLDER
) -> tuple[Page, Path]:
    """Run the parts one after the other, and save what they gave."""
    folder.mkdir(parents=True, exist_ok=True)
    made = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    before = os.getloadavg()[0]
    done = []
    for number, part in enumerate(parts, 1):
        sys.stderr.write(f"{number} of {len(parts)}: {part.name} …\n")
        options = part.quick if quick else part.whole
        given = tuple(map(str, traces)) if part.files else ()
        done.append(run_part(part, (*given, *options), folder))
    load = f"load {before:.1f} before, {os.getloadavg()[0]:.1f} after"
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {load}"
    page = Page(made, quick, machine, tuple(done))
    return page, save(page, folder)


def main(arguments: Sequence[str]) -> int:
    """Make the page and print it; 1 where a benchmark failed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller, in about five minutes")
    parser.add_argument("--only", default="", metavar="NAME,…", help="these parts only")
    parser.add_argument(
        "--traces", type=Path, metavar="FOLDER", help="arrivals (second,pods) for the promise"
    )
    options = parser.parse_args(arguments)
    wanted = options.only.split(",") if options.only else [part.name for part in PARTS]
    if unknown := [name for name in wanted if name not in {part.name for part in PARTS}]:
        parser.error(f"not on the page: {', '.join(unknown)}")
    traces = sorted(options.traces.resolve().glob("*.csv*")) if options.traces else []
    if options.traces and not traces:
        parser.error(f"{options.traces}: no .csv or .csv.gz there")
    chosen = [part for part in PARTS if part.name in wanted]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        page, path = make(chosen, options.quick, traces)
    except KeyboardInterrupt:
        sys.stderr.write("stopped; no page was saved\n")
        return 130
    sys.stdout.writelines(f"{told}\n" for told in text_of(page))
    sys.stderr.write(f"saved as {path}; make bench ARGS=compare puts it beside the one before\n")
    return 1 if any(part.failed for part in page.parts) else 0
