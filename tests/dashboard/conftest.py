"""One browser for all tests of a session that look at a page."""

from __future__ import annotations

from tests.dashboard.fixtures import browser as browser
