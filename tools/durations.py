"""Where the time of a test run goes: seconds by folder, and the longest files.

    make test ARGS=--junitxml=build/tests.xml
    python -m tools.durations build/tests.xml

A test counts from the beginning of its set-up to the end of its teardown, also while it waits. The
sum divided by the number of workers is the least that the run can take.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

LONGEST = 15


def file_of(classname: str) -> str:
    """The test file of a test case: `tests.cli.test_get` is `tests/cli/test_get.py`."""
    parts = classname.split(".")
    end = next((at for at, part in enumerate(parts, 1) if part.startswith("test_")), len(parts))
    return "/".join(parts[:end]) + ".py"


def folder_of(file: str) -> str:
    """The folder directly under `tests`, or the file if there is none."""
    return "/".join(file.split("/")[:2])


def report(cases: Sequence[tuple[str, float]]) -> str:
    """A table of folders and one of files from the files and seconds of test cases."""
    folders: dict[str, list[float]] = defaultdict(list)
    files: dict[str, list[float]] = defaultdict(list)
    for file, seconds in cases:
        folders[folder_of(file)].append(seconds)
        files[file].append(seconds)
    total = [sum(map(sum, files.values())), sum(map(len, files.values()))]
    lines = [f"{'seconds':>8} {'tests':>6}", *by_time(folders), row("together", *total)]
    return "\n".join([*lines, "", "the longest files:", *by_time(files)[:LONGEST]])


def by_time(groups: dict[str, list[float]]) -> list[str]:
    """A line for each group, those that take the longest first."""
    sums = {name: sum(times) for name, times in groups.items()}
    return [
        row(name, sums[name], len(groups[name]))
        for name in sorted(sums, key=sums.__getitem__, reverse=True)
    ]


def row(name: str, seconds: float, tests: float) -> str:
    return f"{seconds:8.0f} {tests:6.0f} {name}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.durations", description=__doc__)
    parser.add_argument("file", type=Path, help="what pytest --junitxml wrote")
    cases = ElementTree.parse(parser.parse_args(arguments).file).iter("testcase")
    print(
        report([(file_of(each.get("classname", "")), float(each.get("time", 0))) for each in cases])
    )


if __name__ == "__main__":
    main()
