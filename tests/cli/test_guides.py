"""The guides are followed to the letter: files are written, commands are run in their order."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from headroom.cli.playing.stories import find_story
from tests.cli.commands import Finished, headroom
from tests.tidy.tree import page

BLOCK = re.compile(
    r"(?:`(?P<file>\S+\.yaml)`:\n\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```", re.M | re.S
)


@dataclass(frozen=True)
class Ran:
    """A command of a page, and how it ended."""

    line: str
    finished: Finished


def followed(capsys: pytest.CaptureFixture[str], folder: Path, text: str) -> list[Ran]:
    """Write every named file and run every command, as somebody with a shell would."""
    ran = []
    for block in BLOCK.finditer(text):
        if block["kind"] == "yaml":
            assert block["file"], f"a file without a name: {block['text'][:60]}"
            (folder / block["file"]).write_text(block["text"])
        else:
            ran += [_run(capsys, folder, line) for line in block["text"].splitlines() if line]
    return ran


def _run(capsys: pytest.CaptureFixture[str], folder: Path, line: str) -> Ran:
    words = shlex.split(line, comments=True)
    assert words[0] == "headroom", line
    if words[1] == "demo":  # Each story has a test of its own; here it must only be there.
        return Ran(line, Finished(0 if find_story(words[2]) else 1, "", ""))
    target = words[words.index(">") + 1] if ">" in words else ""
    arguments = words[1 : words.index(">")] if target else words[1:]
    finished = headroom(capsys, *(_placed(folder, word) for word in arguments))
    if target:
        (folder / target).write_text(finished.out)
    return Ran(line, finished)


def _placed(folder: Path, word: str) -> str:
    return str(folder / word) if word.endswith((".yaml", ".json")) else word


def test_the_guide_to_standing_headroom_works_as_it_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ran = followed(capsys, tmp_path, page("guides/standing-headroom.md"))
    assert [(each.line, each.finished.err) for each in ran if each.finished.code] == []
    said = {each.line.partition("  ")[0]: each.finished.out for each in ran}
    assert (
        "2 slots wished for; 2 would be held"
        in said["headroom plan buffer.yaml --from before.json"]
    )
    slots = said["headroom get slots --from slice.json"].splitlines()[1:]
    assert [line.split()[2] for line in slots] == ["web-0", "web-1", "web-2"]
    alone = said["headroom explain hr/slice --node batch-0 --from slice.json"]
    assert "has the taint batch:NoSchedule, which the slot does not tolerate" in alone
    office = said["headroom explain hr/office --from office.json"]
    assert "wishes for 20 slots and has 20" in office
    assert "0 0 * * 6 (Europe/Zurich) is closed" in office
    spare = said["headroom get hr --from spare.json"].splitlines()[1].split()
    assert spare[1:4] == ["spare", "2", "2"]


def test_the_guide_to_headroom_ahead_of_demand_works_as_it_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ran = followed(capsys, tmp_path, page("guides/ahead-of-demand.md"))
    assert [each for each in ran if each.finished.code != 0] == []
    told = {each.line.split("--from ")[-1]: each.finished.out for each in ran}
    assert "2" in told["gpus.json"]
