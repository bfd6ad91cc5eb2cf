"""The manifests under `deploy/`, the Helm chart among them, are what the code would write."""

from __future__ import annotations

from tools import manifests
from tools.chart.__main__ import files, out_of_date


def test_the_chart_is_up_to_date() -> None:
    assert out_of_date(files()) == [], "run: make chart"


def test_the_manifests_are_up_to_date() -> None:
    made = manifests.files()
    there = {path: manifests.DEPLOY / path for path in made}
    wrong = [
        path
        for path, file in there.items()
        if not file.exists() or file.read_text(encoding="utf-8") != made[path]
    ]
    assert wrong == [], "run: make chart"
