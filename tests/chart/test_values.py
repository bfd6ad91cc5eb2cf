"""Values of the chart: every flag of the operator is one, and what is unknown is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import typer

from headroom.cli.installation.runflags import DECIDED, OF_THIS_MACHINE, UNFIT
from headroom.cli.run import run
from tools.chart.values import RUN_FLAGS, schema_json

Json = dict[str, Any]
SWITCHED_BY_DIALECT = "enable_proactive_scaleup"
# What other people name: labels, annotations, amounts, values of charts around this one.
OPEN = ("labels", "Annotations", "nodeSelector", "requests", "limits", "global", "Selector")


def test_every_flag_that_an_installed_operator_may_have_is_a_value() -> None:
    alone = typer.Typer(add_completion=False)
    alone.command("run")(run)
    known = [parameter.name for parameter in typer.main.get_command(alone).params]
    decided = {*DECIDED, *UNFIT, *OF_THIS_MACHINE, SWITCHED_BY_DIALECT, "help"}
    wanted = [name for name in known if name not in decided]
    # In the order of the help, as `headroom install` writes them.
    assert [flag.name for flag in RUN_FLAGS] == wanted


def objects(schema: Json, path: str) -> Iterator[tuple[str, Json]]:
    if "properties" in schema or schema.get("type") == "object":
        yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from objects(inner, f"{path}.{name}")
    if "items" in schema:
        yield from objects(schema["items"], f"{path}[]")


def test_a_name_that_is_mistyped_is_refused_at_every_depth() -> None:
    found = dict(objects(json.loads(schema_json()), ""))
    closed = [path for path, schema in found.items() if schema.get("additionalProperties") is False]
    rest = [path for path in found if path not in closed]
    assert [path for path in rest if not path.endswith(OPEN)] == []
    assert {".operator.resources", ".operator.tolerations[]", ".webhook.affinity"} <= set(closed)
