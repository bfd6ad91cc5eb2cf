"""The browser as a fixture, for every folder of tests that looks at a page."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from testbed.browser import Browser, running_browser
from testbed.packages import PackageUnavailable


@pytest.fixture(scope="session")
def browser(pytestconfig: pytest.Config) -> Iterator[Browser]:
    """A real browser; without one everything that needs it is skipped, loudly."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    try:
        with running_browser() as found:
            yield found
    except PackageUnavailable as trouble:
        with capture.global_and_fixture_disabled():
            print(f"\nTESTS IN A BROWSER SKIPPED: {trouble}", file=sys.stderr)
        pytest.skip(str(trouble))
