"""An operator with a dialect does not start beside the system that it speaks for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headroom.kube.client import Client
from headroom.kube.errors import RequestForbidden
from headroom.kube.leaserecord import Record
from headroom.kube.other_controllers import ControllerConflict, check_rivals, is_fresh
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.times import format_micro_time
from tests.kube.fakeapi import FakeApi, Reply, refusal, run
from tests.wire.toydialect import TOY

NOON = datetime(2027, 1, 4, 12, tzinfo=UTC)
LEASES = "/apis/coordination.k8s.io/v1/leases"


def lease(
    name: str = "theatre-manager", seconds_ago: float = 2, holder: str = "old-manager"
) -> Reply:
    spec = {
        "holderIdentity": holder,
        "leaseDurationSeconds": 15,
        "renewTime": format_micro_time(NOON - timedelta(seconds=seconds_ago)),
    }
    item = {"metadata": {"name": name, "namespace": "theatre"}, "spec": spec}
    return Reply(body={"kind": "LeaseList", "items": [item]})


async def check(api: FakeApi, codecs: KindCodecs) -> None:
    client = Client(api.access())
    try:
        await check_rivals(client, codecs, NOON)
    finally:
        await client.close()


def test_a_lease_that_is_held_and_renewed_is_a_rival() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(LEASES, lease())
            with pytest.raises(ControllerConflict) as refused:
                await check(api, KindCodecs((TOY,)))
        assert "the theatre's own manager" in refused.value.message
        assert "theatre/theatre-manager is held by old-manager" in refused.value.message
        assert "--dialect toy" in refused.value.hint
        assert refused.value.exit_code == 3
        assert api.asked[0].query["fieldSelector"] == "metadata.name=theatre-manager"

    run(main())


@pytest.mark.parametrize(
    "found",
    [
        Reply(body={"items": []}),
        lease(seconds_ago=16),
        lease(holder=""),
        lease(name="somebody-else"),
    ],
    ids=["none", "not-renewed", "released", "another"],
)
def test_a_lease_that_nobody_keeps_is_none(found: Reply) -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(LEASES, found)
            await check(api, KindCodecs((TOY,)))

    run(main())


def test_without_a_dialect_nobody_is_asked() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            await check(api, NATIVE)
        assert api.asked == []

    run(main())


def test_who_may_not_look_is_told_so() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(LEASES, refusal(403, "leases is forbidden"))
            with pytest.raises(RequestForbidden, match="cannot look for the theatre's own manager"):
                await check(api, KindCodecs((TOY,)))

    run(main())


def test_a_lease_without_a_readable_time_counts_as_kept() -> None:
    assert is_fresh(Record("somebody", 15, renewed="yesterday"), NOON)
    assert not is_fresh(Record("somebody", 15), NOON)
