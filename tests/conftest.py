"""What tests of all kinds share.

`golden` compares a text with the file of that name under tests/golden; `pytest --update-golden`
rewrites the files, and the diff is then read in review. `binaries` are the real control plane's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog

from testbed.binaries import BinariesUnavailable, provide
from tests.ordering import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.samples import pytest_collection_finish as pytest_collection_finish

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "rewrite the files under tests/golden"
    parser.addoption("--update-golden", action="store_true", help=help_text)


@pytest.fixture(autouse=True)
def fresh_logging() -> Iterator[None]:
    """Undo what a test did to logging: its stream is closed once pytest stops capturing."""
    yield
    structlog.reset_defaults()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Give the function that compares a text with a golden file."""

    def compare(name: str, text: str) -> None:
        file = GOLDEN / name
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.exists(), f"no tests/golden/{name}: run with --update-golden and read the diff"
        assert text == file.read_text(encoding="utf-8")

    return compare


@pytest.fixture(scope="session")
def binaries(pytestconfig: pytest.Config) -> Path:
    """The directory of the real binaries; everything that needs them is skipped without, loudly."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    try:
        with capture.global_and_fixture_disabled():  # Who waits for a build wants to see it.
            return provide()
    except BinariesUnavailable as trouble:
        with capture.global_and_fixture_disabled():
            print(f"\nEND-TO-END TESTS SKIPPED: {trouble}", file=sys.stderr)
        pytest.skip(str(trouble))
