"""axe-core, the accessibility checker, for tests: downloaded once from npm into the user's cache.

It is pinned by version and by the hash of its package. It is test equipment under the MPL-2.0 and
no part of the project or of a release. `HEADROOM_AXE` names an existing file.
"""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import tarfile
from functools import cache
from pathlib import Path

from testbed.browser import Page
from testbed.cache import cache_root, fill
from testbed.gobuild import say
from testbed.packages import PackageUnavailable

VERSION = "4.14.0"
SHA512 = "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ=="
SCRIPT = "axe.min.js"
SECONDS = 300
# All of WCAG 2 up to 2.2 AA, and the best practices of its authors.
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
RUN = """(async () => {
  const found = await globalThis.axe.run(document, {runOnly: RULES, resultTypes: ["violations"]});
  return found.violations.flatMap((rule) => rule.nodes.map((node) =>
    rule.id + ": " + node.target.join(" ") + ": " + node.failureSummary.replace(/\\s+/g, " ")));
})()"""


@cache
def axe_script() -> str:
    """The checker as a script; PackageUnavailable says why there is none."""
    named = os.environ.get("HEADROOM_AXE", "")
    if named:
        return Path(named).read_text(encoding="utf-8")
    place = cache_root() / "packages" / f"axe-core-{VERSION}"
    try:
        folder = fill(place, _fetch, lambda: say("somebody else fetches axe-core; waiting"))
    except (OSError, subprocess.SubprocessError, tarfile.TarError) as trouble:
        told = " ".join(str(getattr(trouble, "stderr", "") or trouble).split())[-200:]
        raise PackageUnavailable(f"axe-core {VERSION} cannot be had from npm: {told}") from trouble
    return (folder / SCRIPT).read_text(encoding="utf-8")


def _fetch(folder: Path) -> None:
    subprocess.run(
        ["npm", "pack", "--silent", f"axe-core@{VERSION}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    package = folder / f"axe-core-{VERSION}.tgz"
    digest = base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
    if digest != SHA512:
        raise OSError(f"the package has another hash than the one that is pinned: {digest}")
    with tarfile.open(package) as archive:
        member = archive.extractfile(f"package/{SCRIPT}")
        if member is None:
            raise OSError(f"the package has no {SCRIPT}")
        (folder / SCRIPT).write_bytes(member.read())
    package.unlink()


def barriers(page: Page) -> list[str]:
    """What axe-core finds on a page in its current state; empty without problems."""
    # Through the protocol: the page's own policy allows no other script.
    if not page.eval("!!globalThis.axe"):
        page.eval(f"{axe_script()};null")
    found: list[str] = page.eval(RUN.replace("RULES", str(list(RULES))))
    return found
