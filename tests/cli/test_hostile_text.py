"""Whatever others wrote into objects, no verb prints what a terminal would obey."""

from __future__ import annotations

import copy
import io
import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from headroom.cli.formats.progress import CLEAR, Progress
from headroom.terminal_text import escaped, escaped_streams, is_harmless, one_line, quoted
from tests.cli.commands import headroom
from tests.fuzz.basics import Json
from tests.fuzz.samples import (
    DIALECTS,
    EVENT,
    GUARDIAN,
    HOLD,
    NAMESPACE,
    NODE,
    OBJECTS,
    ORDER,
    POD,
    RESERVATION,
    SCENARIO,
    TICKET,
)
from tests.fuzz.wishes import HEADROOM

COMMAND = Path(sys.executable).with_name("headroom")
# Colours, a window's title, the clipboard, back over the line, C1, an override, a zero width
# space, rich's markup, and a line that looks like one of ours.
HOSTILE = (
    "\x1b[31m\x1b]0;owned\x07\x1b]52;c;b3du\x07\x08\x08\r\x7f\x9b2J\u202egnp\u2066\u200b\u2028"
    "\U000e0041[bold red]\nheadroom: all is well"
)
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
BIDI_CONTROLS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
BIDI_MARKS = "\u200e\u200f\u061c"
PRINTED = (NODE, NAMESPACE, POD, GUARDIAN, HOLD, HEADROOM, RESERVATION, ORDER, TICKET, EVENT)
SPEAKING = tuple(word for name in DIALECTS for word in ("--dialect", name))
ASKED = (
    ("get", "holds"),
    ("get", "headrooms"),
    ("get", "slots"),
    ("get", "nodes"),
    ("get", "guardians"),
    ("get", "claims"),
    ("get", "orders"),
    ("get", "tickets"),
    ("get", "reservations"),
    ("describe", "hold/one", "-n", "shop"),
    ("describe", "pod/web", "-n", "shop"),
    ("describe", "headroom/spare", "-n", "shop"),
    ("explain", "hold/one", "-n", "shop"),
    ("explain", "pod/web", "-n", "shop"),
    ("explain", "headroom/spare", "-n", "shop"),
    ("explain", "order/o", "-n", "shop"),
    ("explain", "ticket/o-0", "-n", "shop"),
    ("explain", "reservation/r"),
    ("top",),
    ("dump",),
)


def texts(thing: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in an object where a text stands."""
    if isinstance(thing, str):
        yield path
    if isinstance(thing, dict | list):
        for key, value in thing.items() if isinstance(thing, dict) else enumerate(thing):
            yield from texts(value, (*path, key))


def planted(thing: Json, path: tuple[Any, ...]) -> Json:
    """The object with the hostile text at the end of one of its texts."""
    made = copy.deepcopy(thing)
    place: Any = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] += HOSTILE
    return made


def keyed(thing: Json) -> Json:
    """The object with hostile names of labels, annotations and resources."""
    made = copy.deepcopy(thing)
    for field in ("labels", "annotations"):
        made["metadata"].setdefault(field, {})[f"k{HOSTILE}"] = f"v{HOSTILE}"
    return made


def written(folder: Path, objects: list[Json]) -> str:
    file = folder / "world.json"
    file.write_text("\n".join(json.dumps(each) for each in objects))
    return str(file)


def worlds() -> list[list[Json]]:
    """Worlds of our samples, each with one text in one object that is hostile."""
    sound = [*OBJECTS, EVENT]
    found = [[keyed(each) for each in sound]]
    for thing in PRINTED:
        others = [each for each in sound if each is not thing]
        for path in texts(thing):
            if path not in (("apiVersion",), ("kind",)):
                found.append([*others, planted(thing, path)])
    return found


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.e2e), 17])
def test_no_text_of_an_object_controls_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, step: int
) -> None:
    for number, world in list(enumerate(worlds()))[::step]:
        file = written(tmp_path, world)
        for verb in (ASKED[number % len(ASKED)], ASKED[(number * 7 + 3) % len(ASKED)]):
            done = headroom(capsys, *verb, *SPEAKING, "--from", file)
            assert done.code in (0, 1, 2), done.err
            for stream in (done.out, done.err):
                assert not FORBIDDEN.search(stream), (verb, stream)
                assert "\nheadroom: all is well" not in stream, (verb, stream)


@pytest.mark.parametrize("verb", ASKED, ids=" ".join)
def test_every_verb_survives_a_world_where_every_free_text_is_hostile(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, verb: tuple[str, ...]
) -> None:
    free = ("message", "reason", "note", "phase", "image", "description")
    world = [
        _all_planted(keyed(each), free, keep=("name", "namespace")) for each in (*OBJECTS, EVENT)
    ]
    file = written(tmp_path, world)
    for form in ("table", "json", "yaml"):
        options = ("-o", form) if (verb, form) != (("dump",), "table") else ()
        done = headroom(capsys, *verb, *SPEAKING, *options, "--from", file)
        assert done.code in (0, 1), done.err
        assert not FORBIDDEN.search(done.out + done.err)
        if form == "json" and done.out:
            json.loads(done.out)
        if form == "yaml" and done.out:
            list(yaml.safe_load_all(done.out))


def _all_planted(thing: Json, fields: tuple[str, ...], keep: tuple[str, ...]) -> Json:
    made = thing
    for path in list(texts(thing)):
        if path[-1] in fields and path[-1] not in keep:
            made = planted(made, path)
    return made


def test_json_and_yaml_read_back_as_they_were(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    hold = planted(HOLD, ("status", "conditions", 0, "message"))
    file = written(tmp_path, [NODE, keyed(hold)])
    for form, read in (("json", json.loads), ("yaml", yaml.safe_load)):
        done = headroom(capsys, "get", "holds", "-o", form, "--from", file)
        assert done.code == 0
        assert not FORBIDDEN.search(done.out)
        (found,) = read(done.out)["items"]
        assert found["status"]["conditions"][0]["message"].endswith(HOSTILE)
        assert found["metadata"]["annotations"][f"k{HOSTILE}"] == f"v{HOSTILE}"


@pytest.mark.parametrize(
    "arguments",
    [
        ("get", f"holds{HOSTILE}"),
        ("explain", f"pod/x{HOSTILE}"),
        ("get", "holds", "--from", f"/nowhere{HOSTILE}"),
        ("simulate", f"/nowhere{HOSTILE}"),
        ("simulate", "/dev/null", "--until", HOSTILE),
        ("plan", f"/nowhere{HOSTILE}"),
        ("get", "holds", "--kubeconfig", f"/nowhere{HOSTILE}"),
        ("get", "holds", f"--opt{HOSTILE}"),
        (f"verb{HOSTILE}",),
        ("demo", HOSTILE),
        ("run", "--http", HOSTILE),
        ("reserve", HOSTILE, "--dry-run"),
    ],
    ids=lambda arguments: arguments[0][:8],
)
def test_errors_repeat_what_they_were_given_without_obeying_it(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    done = headroom(capsys, *arguments)
    assert done.code in (1, 2)
    assert not FORBIDDEN.search(done.out + done.err)


def test_simulate_and_plan_print_nothing_hostile(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    scenario = copy.deepcopy(SCENARIO)
    scenario["metadata"]["name"] = f"s{HOSTILE}"
    scenario["spec"]["steps"] = [
        {"at": "1s", "expect": {"pods": f"app{HOSTILE}=x", "running": 3}},
    ]
    for world in ([scenario, HOLD], [SCENARIO, planted(HEADROOM, ("metadata", "name"))]):
        file = written(tmp_path, world)
        for verb in (("simulate", file), ("plan", file, "--from", file)):
            done = headroom(capsys, *verb)
            assert done.code in (0, 1, 2), done.err
            assert not FORBIDDEN.search(done.out + done.err), (verb, done)


def test_a_terminal_gets_no_sequence_of_others(tmp_path: Path) -> None:
    world = [NODE, planted(HOLD, ("status", "conditions", 0, "message")), GUARDIAN]
    file = written(tmp_path, world)
    ours, theirs = pty.openpty()
    command = [str(COMMAND), "describe", "hold/one", "-n", "shop", "--from", file]
    done = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # Linux says so when the other side has closed.
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    assert done.wait(60) == 0
    assert b"all is well" in seen
    assert not FORBIDDEN.search(seen.decode().replace("\r\n", "\n"))


def test_escaping_changes_nothing_else() -> None:
    fine = "naïve 日本語 😀 │█ ~\ttab\nline [not markup]"
    assert escaped(fine) == quoted(fine) == fine
    assert one_line("a\tb\nc") == "a\\tb\\nc"
    assert escaped("\x1b[0m\u202e\U000e0041\ud800") == "\\x1b[0m\\u202e\\U000e0041\\ud800"
    assert json.loads(quoted(json.dumps(HOSTILE, ensure_ascii=False))) == HOSTILE


def controls(character: str) -> bool:
    """Whether it is a control character, half a character, or changes the order of letters."""
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in BIDI_CONTROLS
        or character in BIDI_MARKS
    )


def test_each_control_and_bidi_character_is_escaped_wherever_it_stands() -> None:
    found = [each for each in map(chr, range(sys.maxunicode + 1)) if controls(each)]
    assert len(found) > 2_000
    for character in found:
        fine = character in "\t\n"
        for text in (character, f"a\n{character}", f"{character}\nz", f"日本\n{character}"):
            assert is_harmless(text) is fine, ascii(text)
            assert (escaped(text) == text) is (quoted(text) == text) is fine, ascii(text)


def test_of_ascii_only_what_is_printable_a_tab_and_a_line_break_is_left() -> None:
    for character in map(chr, range(0x80)):
        fine = character.isprintable() or character in "\t\n"
        assert is_harmless(f"line\n{character}") is is_harmless(character) is fine


def test_progress_is_drawn_and_its_words_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    moments = iter([0.0, 3.0, 3.0])
    with escaped_streams():
        Progress(clock=lambda: next(moments)).tell(f"reading{HOSTILE}")
    drawn = terminal.getvalue()
    assert drawn.startswith(CLEAR)
    assert not FORBIDDEN.search(drawn.removeprefix(CLEAR))
