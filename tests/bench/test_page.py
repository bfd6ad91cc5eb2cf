"""The page: what its rows say, what it does with a benchmark that fails, and how pages compare."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bench import comparing, page, rows
from bench.page import Done, Page, Part
from bench.rows import NO_LESS, RATIO, Aim, OddRows, Row
from tests.patience import deadline_after, keep_waiting

ROOT = Path(__file__).resolve().parents[2]
SLOW = Row("p50, door 2", 90.0, "ms", "plain pod", 30.0, Aim(2.0, of=RATIO), "400 owners")
QUICK = Row("p50, door 2", 45.0, "ms", "plain pod", 30.0, Aim(2.0, of=RATIO), "400 owners")
HITS = Row("hits", 99.2, "%", "oracle static", 99.0, Aim(99.0, NO_LESS), "a trace")


def made(*found: Row, failed: str = "", at: str = "2026-11-18T04:00:00Z") -> Page:
    return Page(at, True, f"2 cores, load {'3' * 99}", (Done("handover", 12.0, found, failed),))


def test_an_aim_of_the_ratio_is_judged_beside_the_yardstick() -> None:
    assert (SLOW.ratio, SLOW.met) == (3.0, False)
    assert (QUICK.ratio, QUICK.met) == (1.5, True)
    assert HITS.met is True


def test_what_was_not_measured_is_not_judged() -> None:
    lost = Row("p50", math.nan, "ms", "plain pod", math.nan, Aim(2.0, of=RATIO))
    assert (lost.ratio, lost.met) == (None, None)
    assert lost.to_json()["measured"] is None
    assert Row("no aim", 3.0, "s").met is None
    assert Row("no yardstick", 3.0, "s", aim=Aim(2.0, of=RATIO)).met is None


def test_a_row_reads_back_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    rows.write(file, [SLOW, HITS])
    assert rows.rows_from(json.loads(file.read_text("utf-8")), "here") == [SLOW, HITS]


def test_the_page_fits_a_terminal_and_says_what_is_met() -> None:
    long = Row("n" * 60, 1_234_567.0, "seconds", "y" * 60, 3.0, Aim(2.0, of=RATIO), "s" * 150)
    lines = list(page.text_of(made(SLOW, QUICK, HITS, long)))
    assert max(map(len, lines)) <= 100
    assert lines[3] == "handover (12 s): 400 owners"
    assert " ".join(lines[4].split()[3:]) == "90.0 ms plain pod 30.0 ms 3.00 × ≤ 2 × NO"
    assert lines[5].endswith("yes")
    assert lines[-1] == "aims met: 2 of 4"


def test_a_page_reads_back_as_it_was_saved(tmp_path: Path) -> None:
    whole = made(SLOW, HITS)
    path = page.save(whole, tmp_path)
    assert page.saved(tmp_path) == [path]
    assert page.read_page(path) == whole


def test_ratios_are_compared_and_an_aim_that_is_met_now_is_told() -> None:
    lines = list(comparing.text_of(made(SLOW, HITS), made(QUICK, HITS)))
    told = {line.split("  ")[0]: line for line in lines}
    assert told["p50, door 2"].endswith("0.50 better, now met")
    assert told["hits"].endswith("1.00 same")
    assert max(map(len, lines)) <= 100


def test_more_of_what_is_to_be_much_is_better() -> None:
    fewer = Row("hits", 90.0, "%", "oracle static", 99.0, Aim(99.0, NO_LESS), "a trace")
    assert comparing._change(HITS, fewer) == "0.91 worse, NOT MET"
    assert comparing._change(fewer, HITS) == "1.10 better, now met"


def test_rows_of_one_page_only_and_of_another_scale_have_no_change() -> None:
    smaller = Row("hits", 99.0, "%", "oracle static", 99.0, Aim(99.0, NO_LESS), "a part of it")
    lines = list(comparing.text_of(made(SLOW, HITS), made(smaller, failed="no rows")))
    told = {line.split("  ")[0]: line for line in lines}
    assert told["p50, door 2"].endswith("only earlier")
    assert told["hits"].endswith("other scale")
    assert "failed now: handover: no rows" in lines


def test_the_newest_page_is_put_beside_the_one_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert comparing.main([], tmp_path) == 1
    assert "0 pages" in capsys.readouterr().err
    oldest = page.save(made(HITS, at="2026-11-16T04:00:00Z"), tmp_path)
    page.save(made(SLOW, at="2026-11-17T04:00:00Z"), tmp_path)
    page.save(made(QUICK), tmp_path)
    assert comparing.main([], tmp_path) == 0
    assert "0.50 better" in capsys.readouterr().out
    assert comparing.main([str(oldest)], tmp_path) == 0
    assert "only earlier" in capsys.readouterr().out
    assert comparing.main(["--what"], tmp_path) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "cannot be read"),
        ("[1, 2]", "no page"),
        ('{"kind": "Other"}', "no page"),
        ('{"kind": "BenchPage"}', "parts"),
        ('{"kind": "BenchPage", "parts": [3]}', "parts"),
        ('{"kind": "BenchPage", "parts": [{"seconds": "x", "rows": []}]}', "seconds"),
        ('{"kind": "BenchPage", "parts": [{"seconds": 1, "rows": {}}]}', "a list of rows"),
        ('{"kind": "BenchPage", "parts": [{"seconds": 1, "rows": [7]}]}', "rows[0]"),
        (
            '{"kind": "BenchPage", "parts": [{"seconds": 1, "rows": [{"measured": "many"}]}]}',
            "rows[0].measured",
        ),
        (
            '{"kind": "BenchPage", "parts": [{"seconds": 1, "rows": [{"aim": {"limit": 1}}]}]}',
            "rows[0].aim",
        ),
    ],
)
def test_an_odd_file_is_named_with_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, why: str
) -> None:
    page.save(made(HITS), tmp_path)
    odd = tmp_path / "odd.json"
    odd.write_text(text)
    assert comparing.main([str(odd)], tmp_path) == 2
    told = capsys.readouterr().err
    assert str(odd) in told
    assert why in told


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (binary, tmp_path / "nothing", tmp_path):
        with pytest.raises(OddRows, match=str(path)):
            page.read_page(path)


def test_a_benchmark_that_fails_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    small = ("--nodes", "50", "--pods", "5")
    parts = (
        Part("decide", ("--nodes", "-1")),
        Part("nowhere"),
        Part("audit"),  # Runs, and hands in nothing.
        Part("decide", small),
    )
    found, path = page.make(parts, False, (), tmp_path)
    wrong, unknown, silent, good = found.parts
    assert wrong.failed.startswith("exit status 1: ")
    assert "bench.nowhere" in unknown.failed
    assert silent.failed.startswith("handed in no rows")
    assert [row.name for row in good.rows] == ["one decision"]
    told = "\n".join(page.text_of(found))
    assert "failed: decide, nowhere, audit" in told
    assert "one decision" in told
    assert [part.failed for part in page.read_page(path).parts] == [
        part.failed for part in found.parts
    ]


def test_a_benchmark_that_says_nothing_has_no_last_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\n  \n")
    assert page.last_line(log) == "it said nothing"
    log.write_bytes(b"first\nlast \xff\n\n")
    assert page.last_line(log) == "last �"


def test_an_interrupt_ends_the_benchmark_and_what_it_started(tmp_path: Path) -> None:
    """A page of a benchmark that starts a child and waits for ever."""
    pids = tmp_path / "pids"
    waits = (
        "import os, subprocess, sys, time;"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}\\n');"
        "time.sleep(600)"
    )
    runs = f"import sys; from bench import page; page._run([sys.executable, '-c', {waits!r}], 1)"
    whole = subprocess.Popen(
        [sys.executable, "-c", runs],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait("both run", lambda: pids.exists() and pids.read_text().endswith("\n"))
        whole.send_signal(signal.SIGINT)
        whole.wait(60)
        for pid in map(int, pids.read_text().split()):
            _wait(f"{pid} is gone", partial(_gone, pid))
    finally:
        whole.kill()
        whole.wait()


def _wait(what: str, ready: Callable[[], bool]) -> None:
    deadline = deadline_after(60)
    while not ready():
        keep_waiting(deadline, what)
        time.sleep(0.05)  # Real processes start and end.


def _gone(pid: int) -> bool:
    """Whether a process has ended; a zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True
