"""Traces are read line by line, and every bad line is told with its file, its line and a remedy."""

from __future__ import annotations

import gzip
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from headroom.wire.traces.cells import MOST_PODS
from headroom.wire.traces.files import LONGEST_LINE, arrivals_of
from headroom.wire.traces.parser import MOST_TOLD, Arrival, Reading, TraceError
from headroom.wire.traces.series import MOST_SHAPES, series_of


def read(text: str) -> list[Arrival]:
    return list(Reading("t.csv").arrivals(text.splitlines(keepends=True)))


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(TraceError) as told:
        read(text)
    return told.value.problems


def test_seconds_and_pods_are_read() -> None:
    assert read("second,pods\n0,3\n\n2.5, 1\n") == [Arrival(0.0, 3), Arrival(2.5, 1)]


def test_times_with_a_zone_count_from_1970() -> None:
    found = read("time,count\n2027-01-04T08:00:00+01:00,1\n2027-01-04T08:00:01.5+01:00,2\n")
    assert [each.second for each in found] == [1799046000.0, 1799046001.5]
    assert {each.zone for each in found} == {"+01:00"}


def test_a_line_without_a_count_is_one_pod() -> None:
    assert read("time\n5\n5\n") == [Arrival(5.0), Arrival(5.0)]


def test_what_pods_are_like_is_read_in_any_order_of_columns() -> None:
    text = "memory,class,second,duration,cpu,note\n1Gi,web,1,90s,500m,x\n,,2,30,,y\n"
    assert read(text) == [
        Arrival(1.0, 1, "web", "500m", "1Gi", 90.0),
        Arrival(2.0, 1, duration=30.0),
    ]


def test_a_byte_order_mark_windows_line_ends_and_quotes_are_read() -> None:
    assert read('\ufeffsecond,pods\r\n"1","2"\r\n') == [Arrival(1.0, 2)]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 0, "no arrivals in it"),
        ("\n\n", 0, "no arrivals in it"),
        ("second,pods\n", 0, "no arrivals in it"),
        ("1,2\n3,4\n", 1, "no column `second` or `time`: a header such as second,pods"),
        ("second;pods\n1;2\n", 1, "separated by semicolons; write commas"),
        ("second\tpods\n1\t2\n", 1, "separated by tabs; write commas"),
        ("second,pods,pods\n1,2,3\n", 1, "'pods' is there twice"),
        ("second,time,pods\n1,2,3\n", 1, "leave one out"),
        ("second,pods\n1,many\n", 2, "'many' is not a number of pods; write an integer"),
        ("second,pods\n1,\n", 2, "'' is not a number of pods"),
        ("second,pods\n1,1.5\n", 2, "is not a number of pods; write an integer"),
        ("second,pods\n1,-2\n", 2, "is not a number of pods"),
        ("second,pods\n1,nan\n", 2, "'nan' is not a number of pods"),
        ("second,pods\n1,1e999\n", 2, "is not a number of pods"),
        (f"second,pods\n1,{MOST_PODS + 1}\n", 2, "other units?"),
        ("second,pods\nsoon,1\n", 2, "'soon' is not a time; write seconds such as 90"),
        ("second,pods\n-3,1\n", 2, "before the start"),
        ("second,pods\n1799046000000,1\n", 2, "milliseconds; divide by 1000"),
        ("second,pods\n5,1\n3,1\n", 3, "earlier than the line before (3 < 5); sort the lines"),
        ("second,pods\n1,1\n9000000000,1\n", 3, "ten years after the first"),
        ("second,pods\n1,1,1\n", 2, "3 values where the header has 2 columns"),
        ("second,pods\n1\n", 2, "1 values where the header has 2 columns"),
        ('second,pods\n"1,2\n', 2, "the line cannot be read"),
        ("time,pods\n2027-01-04T08:00:00,1\n", 2, "no time zone; write it as in"),
        ("time,pods\n2027-02-30T08:00:00Z,1\n", 2, "is not a time"),
        (
            "time,pods\n2027-01-04T08:00:00Z,1\n2027-01-04T09:00:00+01:00,1\n",
            3,
            "times in two zones: the zone is +01:00, and Z in line 2; write all of them in one",
        ),
        ("time,pods\n5,1\n2027-01-04T09:00:00+01:00,1\n", 3, "a time where line 2 has seconds"),
        ("time,pods\n2027-01-04T09:00:00Z,1\n5,1\n", 3, "seconds where line 2 has a time"),
        ("second,class\n1,a b\n", 2, "'a b' is not a class; write letters"),
        ("second,cpu\n1,lots\n", 2, "'lots' is not a quantity"),
        ("second,memory\n1,-1Gi\n", 2, "is negative"),
        ("second,duration\n1,long\n", 2, "'long' is not a duration"),
        ("second,duration\n1,-5s\n", 2, "is not a running time"),
    ],
)
def test_each_bad_line_is_told_with_file_line_and_remedy(text: str, line: int, words: str) -> None:
    (told,) = problems(text)
    assert told.startswith(f"t.csv:{line}: " if line else "t.csv: ")
    assert words in told


def test_all_bad_lines_are_told_up_to_a_number() -> None:
    two = problems("second,pods\n1,x\n2,1\n3,y\n")
    assert [each.split(":")[1] for each in two] == ["2", "4"]
    many = problems("second,pods\n" + "1,x\n" * 1000)
    assert len(many) == MOST_TOLD + 1
    assert "there may be more" in many[-1]


def test_a_gigantic_trace_is_ended_at_a_bound() -> None:
    def endless() -> Iterator[str]:
        yield "second\n"
        while True:
            yield "7\n"

    with pytest.raises(TraceError, match=r"t.csv:52: more than 50 lines; count pods by the second"):
        deque(Reading("t.csv", most_rows=50).arrivals(endless()))


def test_whatever_stands_in_a_trace_is_read_or_told() -> None:
    chance = Random(1)
    cells = [
        "0",
        "1e3",
        "1e400",
        "-1",
        "nan",
        "１２",
        "²",
        "",
        "2027-01-04T08:00:00+25:99",
        '"',
        "é",
    ]
    cells += ["9999-12-31T23:59:59Z", "1" * 5000, "\x00", "500m", "1e-9999", "99999999999h", "."]
    heads = ["second,pods", "time,count,class", "second,cpu,memory,duration", ",", "memory,second"]
    told: list[str] = []
    for _ in range(2000):
        lines = [chance.choice(heads)]
        width = lines[0].count(",") + 1
        for _ in range(chance.randrange(4)):
            lines.append(",".join(chance.choice(cells) for _ in range(width)))
        try:
            series_of(Reading("t.csv").arrivals(lines), "t.csv")
        except TraceError as error:
            told += error.problems
    assert len(told) > 1000
    assert [words for words in told if not words.startswith("t.csv:")] == []


def test_packed_and_plain_files_are_told_apart_by_what_is_in_them(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain.csv.gz", tmp_path / "packed.csv"
    plain.write_text("second,pods\n1,2\n")
    packed.write_bytes(gzip.compress(b"second,pods\n1,2\n"))
    assert list(arrivals_of(plain)) == list(arrivals_of(packed)) == [Arrival(1.0, 2)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(b"second,pods\n1,2\n")[:-4], "the gzip file is damaged or cut off"),
        (b"\x1f\x8bnonsense", "cannot be read"),
        (b"second,pods\n\xff\xfe,1\n", ":2: not a text in UTF-8"),
        (b"second,pods\n" + b"1" * (LONGEST_LINE + 1), ":2: a line of more than"),
        (gzip.compress(b"\0" * 50_000_000), ":1: a line of more than"),
    ],
    ids=["cut off", "nonsense", "not text", "a long line", "a bomb"],
)
def test_files_that_are_no_traces_are_told(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(TraceError) as told:
        list(arrivals_of(path))
    assert f"{path}" in told.value.message
    assert words in told.value.message


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_files_that_cannot_be_opened_are_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(TraceError, match="cannot be read"):
        list(arrivals_of(tmp_path / name))


def test_a_series_counts_by_the_second_and_remembers_shapes() -> None:
    found = series_of(
        [
            Arrival(1.0, 2, "web", "1", "", 10.0),
            Arrival(1.0, 1, "db"),
            Arrival(2.0, 0),
            Arrival(9.0, 4, "web", "1", "", 30.0),
        ],
        "t.csv",
    )
    assert (list(found.seconds), list(found.counts)) == ([1.0, 9.0], [3, 4])
    assert (found.pods, found.span) == (7, 8.0)
    assert found.shapes == {("web", "1", ""): 6, ("db", "", ""): 1}
    assert (found.running, found.lasting) == (140.0, 6)


def test_the_number_of_remembered_shapes_is_bounded() -> None:
    found = series_of((Arrival(float(n), 1, f"c{n}") for n in range(3 * MOST_SHAPES)), "t.csv")
    assert len(found.shapes) <= MOST_SHAPES + 1
    assert sum(found.shapes.values()) == 3 * MOST_SHAPES
