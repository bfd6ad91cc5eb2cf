"""`get -w`: what a cluster says after the first list, and what it forgets."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import Any

from headroom.cli.live.table_watch import worlds
from headroom.cli.source import Where
from headroom.wire.kinds import HOLDS
from tests.kube.fakeapi import FakeApi, Reply, Stream, line, run

Json = dict[str, Any]
PATH = "/apis/headroom.dev/v1alpha1/namespaces/shop/holds"


def stored(name: str, version: int) -> Json:
    """A hold as a list shows it, without apiVersion and kind."""
    metadata = {"name": name, "namespace": "shop", "resourceVersion": str(version)}
    container = {"name": "m", "resources": {"requests": {"cpu": "1"}}}
    return {"metadata": metadata, "spec": {"template": {"spec": {"containers": [container]}}}}


def page(*items: Json, version: int) -> Reply:
    return Reply(body={"metadata": {"resourceVersion": str(version)}, "items": list(items)})


def where(api: FakeApi, folder: Path) -> Where:
    file = folder / "kubeconfig"
    file.write_text(
        f"clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{api.port}'}}}}]\n"
        "contexts: [{name: k, context: {cluster: c, namespace: shop}}]\n"
        "current-context: k\n"
    )
    return Where(kubeconfig=str(file), kinds=(HOLDS,), namespace="shop", local=True, foreign=False)


def test_changes_are_shown_and_a_list_is_read_again_where_the_server_has_forgotten(
    tmp_path: Path,
) -> None:
    said = (line("ADDED", stored("b", 2)), line("DELETED", stored("a", 3)))
    old = line("ERROR", {"kind": "Status", "code": 410, "message": "too old"})

    async def main() -> None:
        async with FakeApi() as api:
            again = page(stored("b", 2), stored("c", 9), version=9)
            api.script(f"list {PATH}", page(stored("a", 1), version=1), again)
            api.script(f"watch {PATH}", Stream(said), Stream((old,)), Stream(then="hang"))
            shown: list[list[str]] = []
            news = worlds(where(api, tmp_path))
            async with aclosing(news) as seen:
                async for world in seen:
                    shown.append([hold.key.name for hold in world.holds])
                    assert [item["kind"] for item in world.raw] == ["Hold"] * len(world.raw)
                    if shown[-1] == ["b", "c"]:
                        break
            assert shown[0] == ["a"]
            watched = [asked.query for asked in api.asked if "watch" in asked.query]
            assert [query["resourceVersion"] for query in watched] == ["1", "3", "9"]

    run(main())
