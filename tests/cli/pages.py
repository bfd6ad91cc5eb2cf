"""A page followed to the letter: its files are written, its commands run, its outputs compared.

A file is a yaml block under its name; commands are blocks without a language, each line with the
exit code that its comment names (`# exits 1: …`), else 0; a text block after them shows some of the
lines that they print, where `…` stands for anything and spaces do not count.
"""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from headroom.cli.playback.stories import find_story
from tests.cli.commands import Finished, headroom
from tests.tidy.tree import ROOT

BLOCK = re.compile(
    r"(?:`(?P<file>\S+\.yaml)`:\n\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```", re.M | re.S
)
ENDS = re.compile(r"#.*\bexits (\d)")


@dataclass(frozen=True)
class Ran:
    """A command of a page, and how it ended."""

    line: str
    finished: Finished


def followed(capsys: pytest.CaptureFixture[str], folder: Path, text: str) -> list[Ran]:
    """Do all that a page says, as somebody with a shell would."""
    traces = Path("docs/guides/traces")
    shutil.copytree(ROOT / traces, folder / traces)  # Scenarios of a page name them.
    ran: list[Ran] = []
    said: list[Ran] = []
    for block in BLOCK.finditer(text):
        match block["kind"]:
            case "yaml":
                assert block["file"], f"a file without a name: {block['text'][:60]}"
                (folder / block["file"]).write_text(block["text"])
            case "csv":
                pass  # Some lines of a file that is there.
            case "text":
                _compare(block["text"], said)
            case _:
                said = [_run(capsys, folder, line) for line in block["text"].splitlines() if line]
                ran += said
    return ran


def _compare(shown: str, said: list[Ran]) -> None:
    there = _squeezed("\n".join(each.finished.out + each.finished.err for each in said))
    for line in shown.splitlines():
        pattern = ".*".join(re.escape(part) for part in _squeezed(line).split("…"))
        assert re.search(pattern, there), f"nothing said: {line}\n{there}"


def _squeezed(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def _run(capsys: pytest.CaptureFixture[str], folder: Path, line: str) -> Ran:
    words = shlex.split(line, comments=True)
    if words[0] != "headroom":
        return Ran(line, Finished(_known(words), "", ""))
    if words[1] == "demo":  # Each story has a test of its own; here it must only be there.
        story = words[2] if len(words) > 2 else ""
        return Ran(line, Finished(0 if find_story(story) else 1, "", ""))
    target = words[words.index(">") + 1] if ">" in words else ""
    arguments = words[1 : words.index(">")] if target else words[1:]
    finished = headroom(capsys, *(_placed(folder, word) for word in arguments))
    ends = ENDS.search(line)
    assert finished.code == (int(ends[1]) if ends else 0), f"{line}\n{finished.err}"
    if target:
        (folder / target).write_text(finished.out)
    return Ran(line, finished)


def _known(words: list[str]) -> int:
    """What comes before the first `headroom`: a target of the Makefile, and the environment."""
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert re.search(rf"^{words[1]}:", makefile, re.M), words
        return 0
    assert words == [".", ".venv/bin/activate"], words
    return 0


def _placed(folder: Path, word: str) -> str:
    return str(folder / word) if word.endswith((".yaml", ".json", ".html")) else word
