"""Where the time of a test run went, from what pytest recorded."""

from __future__ import annotations

from tools.durations import file_of, report


def test_a_test_case_is_counted_for_its_file_and_its_folder() -> None:
    assert file_of("tests.cli.test_get") == "tests/cli/test_get.py"
    assert file_of("tests.e2e.attacks.test_edges.TestClass") == "tests/e2e/attacks/test_edges.py"


def test_the_longest_folders_and_files_come_first_and_all_is_summed() -> None:
    cases = [("tests/cli/test_get.py", 1.0), ("tests/e2e/test_cli.py", 5.0)]
    cases += [("tests/cli/test_top.py", 2.0), ("tests/cli/test_top.py", 2.5)]
    lines = [line.split() for line in report(cases).splitlines()]
    assert lines[1:4] == [["6", "3", "tests/cli"], ["5", "1", "tests/e2e"], ["10", "4", "together"]]
    assert [line[2] for line in lines[6:]] == [
        "tests/e2e/test_cli.py",
        "tests/cli/test_top.py",
        "tests/cli/test_get.py",
    ]
