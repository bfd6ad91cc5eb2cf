"""Programs that are unpacked from Debian packages: which file of a package is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.cache import cache_root
from testbed.packages import program


def test_an_unpacked_browser_is_run_itself_and_not_the_script_that_looks_for_it_in_usr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    root = cache_root() / "packages" / "some-browser"
    for folder in ("usr/bin", "usr/lib/chromium"):
        (root / folder).mkdir(parents=True)
        (root / folder / "browser-of-no-machine").write_text("")
    found = program("some-browser", ["browser-of-no-machine"])
    assert found.path == root / "usr/lib/chromium/browser-of-no-machine"
