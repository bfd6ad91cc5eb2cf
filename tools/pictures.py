"""The pictures of the guides, created by running the commands of a guide.

`python -m tools.pictures` runs each page of docs/guides that writes an HTML page, extracts the
charts, and writes them into docs/guides/pictures as separate files.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from headroom.cli.main import run_command
from headroom.plot.chart import standalone

ROOT = Path(__file__).resolve().parents[1]
GUIDES = ROOT / "docs" / "guides"
PICTURES = GUIDES / "pictures"
FILE = re.compile(r"`(\S+\.yaml)`:\n\n```yaml\n(.*?)^```", re.M | re.S)
COMMAND = re.compile(r"^headroom .*--html (\S+)\.html.*$", re.M)
CHART = re.compile(r"<svg .*?</svg>", re.S)


def charts(page: str) -> list[str]:
    """The charts of an HTML page, each as a separate file."""
    return [standalone(found) for found in CHART.findall(page)]


def make(guide: Path, folder: Path, target: Path) -> list[Path]:
    """Run a guide's commands that draw, in a folder; return the written pictures."""
    text = guide.read_text(encoding="utf-8")
    shutil.copytree(GUIDES / "traces", folder / "docs/guides/traces", dirs_exist_ok=True)
    for name, content in FILE.findall(text):
        (folder / name).write_text(content, encoding="utf-8")
    written: list[Path] = []
    for command in COMMAND.finditer(text):
        if run_command(shlex.split(command[0])[1:]) != 0:
            raise SystemExit(f"{guide.name}: {command[0]} failed")
        drawn = charts((folder / f"{command[1]}.html").read_text(encoding="utf-8"))
        for number, chart in enumerate(drawn, 1):
            path = target / f"{command[1]}-{number}.svg"
            if path.name in text:
                path.write_text(f"{chart}\n", encoding="utf-8")
                written.append(path)
    return written


def main() -> int:
    PICTURES.mkdir(exist_ok=True)
    for guide in sorted(GUIDES.glob("*.md")):
        if COMMAND.search(guide.read_text(encoding="utf-8")):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                for path in make(guide, Path(folder), PICTURES):
                    print(path.relative_to(ROOT), file=sys.stderr)
                os.chdir(ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
