"""`make fuzz`: many odd objects through everything, counted, each replayable by its number."""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.cases import WAYS, Finding, odd_object, run_case

GIB = 2**30


def main() -> int:
    """Run the cases that are asked for; 1 if anything was found."""
    options = options_from()
    resource.setrlimit(resource.RLIMIT_AS, (options.memory * GIB, options.memory * GIB))
    gc.freeze()  # What is imported stays: nobody need look at it again and again.
    with tempfile.TemporaryDirectory(prefix="headroom-fuzz-") as folder:
        if options.case is not None:
            return _replay(options, Path(folder))
        return _run(options, Path(folder))


def options_from(arguments: list[str] | None = None) -> argparse.Namespace:
    """What is asked for on the command line; without anything, a million cases by every route."""
    parser = argparse.ArgumentParser(prog="make fuzz ARGS=…", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000, help="how many cases")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    names = ", ".join(way.name for way in WAYS)
    parser.add_argument("--route", default="", type=_routes, help=f"some of: {names}")
    parser.add_argument("--kind", default="", help="objects of this kind only")
    parser.add_argument("--case", type=int, help="run this one case and show its object")
    parser.add_argument("--memory", type=int, default=4, help="GiB that the run may take")
    parser.add_argument("--findings", type=Path, help="append each new finding to this file")
    return parser.parse_args(arguments)


def _routes(text: str) -> str:
    unknown = set(filter(None, text.split(","))) - {way.name for way in WAYS}
    if unknown:
        raise argparse.ArgumentTypeError(f"no such route: {', '.join(sorted(unknown))}")
    return text


def _replay(options: argparse.Namespace, folder: Path) -> int:
    print(json.dumps(odd_object(options.case, options.route, options.kind), indent=1)[:20_000])
    route, kind, found = run_case(options.case, folder, options.route, options.kind)
    print(f"case {options.case}: {kind} {route}: {found.problem if found else 'nothing found'}")
    return 1 if found else 0


def _run(options: argparse.Namespace, folder: Path) -> int:
    routes: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    findings: dict[str, list[Finding]] = {}
    end = time.monotonic() + options.seconds
    told = time.monotonic()
    for case in range(options.seed, options.seed + options.count):
        if time.monotonic() > end:
            break
        route, kind, found = run_case(case, folder, options.route, options.kind)
        routes[route] += 1
        kinds[kind] += 1
        if found is not None:
            _note(findings, found, options)
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{routes.total()} cases, {len(findings)} findings", file=sys.stderr, flush=True)
    _report(options, routes, kinds, findings)
    return 1 if findings else 0


def _note(findings: dict[str, list[Finding]], found: Finding, options: argparse.Namespace) -> None:
    """Findings that read alike are one; the first is enough to mend it."""
    alike = findings.setdefault(_signature(found), [])
    alike.append(found)
    if len(alike) == 1:
        flags = f" --route {options.route}" if options.route else ""
        flags += f" --kind {options.kind}" if options.kind else ""
        again = f"make fuzz ARGS='--case {found.case}{flags}'"
        line = f"{found.kind} {found.route}: {found.problem}\n  {again}"
        print(line, flush=True)
        if options.findings is not None:
            with options.findings.open("a", encoding="utf-8") as file:
                file.write(line + "\n")


def _signature(found: Finding) -> str:
    letters = "".join("#" if each.isdigit() else each for each in found.problem)
    return f"{found.route} {letters[:90]}"


def _report(
    options: argparse.Namespace,
    routes: Counter[str],
    kinds: Counter[str],
    findings: dict[str, list[Finding]],
) -> None:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    last = options.seed + routes.total() - 1
    print(f"{routes.total()} cases ({options.seed} to {last}), at most {most} MiB")
    print("by route: " + ", ".join(f"{name} {count}" for name, count in routes.most_common()))
    print("by kind:  " + ", ".join(f"{name} {count}" for name, count in kinds.most_common()))
    escaped = sum(not each[0].contained for each in findings.values())
    print(f"findings: {len(findings)}, of which {escaped} hurt more than their object")


if __name__ == "__main__":
    sys.exit(main())
