"""The screenshots of the documentation, created by the commands on its pages.

    python -m tools.screenshots

Runs `headroom simulate docs/images/shop.yaml` with `--html` and `--svg`, opens the page in a real
browser, light and dark, and writes the screenshots into docs/images.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from testbed.browser import running_browser
from testbed.packages import PackageUnavailable

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SCENARIO = "docs/images/shop.yaml"
LOOK = "?group=pool&at=7800"
SIZE = (1200, 1420)
READY = "document.querySelector('#moment').innerText.startsWith('2:10:00')"


def main() -> int:
    """Create all of them again."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "shop.html"
        command = ("simulate", SCENARIO, "--html", str(page), "--svg", str(IMAGES / "shop.svg"))
        subprocess.run([sys.executable, "-m", "headroom", *command], cwd=ROOT, check=True)
        try:
            with running_browser() as browser:
                for name, dark in (("light", False), ("dark", True)):
                    with browser.page(f"{page.as_uri()}{LOOK}", dark, SIZE) as tab:
                        tab.until(READY)
                        tab.picture(IMAGES / f"page-{name}.png")
        except PackageUnavailable as trouble:
            sys.stderr.write(f"NO PICTURES OF THE PAGE: {trouble}\n")
            return 1
    sys.stderr.write(f"written: {IMAGES.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
