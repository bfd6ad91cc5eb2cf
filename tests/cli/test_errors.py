"""Whatever goes wrong: a person reads a line, a script a code, nobody a traceback."""

from __future__ import annotations

import pytest

from headroom.cli.errors import Misuse, NegativeAnswer, guarded
from headroom.errors import HeadroomError
from tests.cli.commands import headroom


class Unreachable(HeadroomError):
    exit_code = 3


@pytest.mark.parametrize(
    ("trouble", "code"), [(NegativeAnswer("no"), 1), (Misuse("what?"), 2), (Unreachable("gone"), 3)]
)
def test_foreseen_trouble_has_its_own_exit_code(trouble: HeadroomError, code: int) -> None:
    def body() -> None:
        raise trouble

    assert guarded(body) == code


def test_trouble_is_one_line_and_a_hint_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        raise NegativeAnswer("hold a is not there", "see: headroom get holds")

    guarded(body)
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "headroom: hold a is not there\n  see: headroom get holds\n"


def test_a_bug_is_told_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADROOM_DEBUG", raising=False)

    def body() -> None:
        raise KeyError("x")

    assert guarded(body) == 4
    err = capsys.readouterr().err
    assert "this is a bug in headroom: KeyError: 'x'" in err
    assert "HEADROOM_DEBUG=1" in err
    assert "Traceback" not in err


def test_the_traceback_of_a_bug_is_there_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADROOM_DEBUG", "1")

    def body() -> None:
        raise KeyError("x")

    assert guarded(body) == 4
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupted_command_exits_as_shells_expect() -> None:
    def body() -> None:
        raise KeyboardInterrupt

    assert guarded(body) == 130


@pytest.mark.parametrize("arguments", [("nonsense",), ("version", "--nonsense"), ("run", "--http")])
def test_misuse_exits_2_and_says_what_is_wrong(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    finished = headroom(capsys, *arguments)
    assert finished.code == 2
    assert finished.out == ""
    assert "nonsense" in finished.err or "--http" in finished.err
