"""What the operator finds in a cluster at its start, and what it makes of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from headroom.core.actions import CreateGuardian
from headroom.dialects.schedulinggate import SCHEDULING_GATE
from headroom.dialects.schedulinggate.names import HEADROOM_CLASS
from headroom.kube.client import Client
from headroom.kube.prerequisites import POLICIES, keep_prepared, prepare
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import PRIORITY_CLASSES
from headroom.wire.policy import POLICY_NAME
from tests.builders import hold
from tests.kube.fakeapi import FakeApi, Reply, run


def class_of_a_guardian(found: str) -> str:
    """The class that a guardian of the dialect gets where its class is there with this policy."""
    codecs = KindCodecs((SCHEDULING_GATE,))

    async def main() -> None:
        async with FakeApi() as api:
            body = {"metadata": {"name": HEADROOM_CLASS}, "preemptionPolicy": found}
            api.script(PRIORITY_CLASSES.path(name=HEADROOM_CLASS), Reply(body=body))
            client = Client(api.access())
            try:
                await prepare(client, "headroom-system", codecs)
            finally:
                await client.close()

    run(main())
    wanted = hold("h", mode="Preemptible")
    template = replace(wanted.template, priority_class=HEADROOM_CLASS)
    wanted = replace(wanted, template=template)
    made = codecs.render(CreateGuardian("h", wanted, template.pod.requests))
    assert isinstance(made.body, dict)
    assert made.body["spec"]["preemptionPolicy"] == "Never"
    return str(made.body["spec"]["priorityClassName"])


def test_a_class_that_is_there_and_preempts_is_not_used() -> None:
    assert class_of_a_guardian("PreemptLowerPriority") == "headroom-preemptible"


def test_one_that_never_preempts_is() -> None:
    assert class_of_a_guardian("Never") == HEADROOM_CLASS


def test_a_class_that_somebody_deletes_is_made_again() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            client = Client(api.access())
            keeping = asyncio.create_task(keep_prepared(client, "headroom-system", pause=0.0))
            try:
                await api.wait_asked(12)
            finally:
                keeping.cancel()
                await client.close()
            made = [asked.path for asked in api.asked if asked.method == "POST"]
            assert PRIORITY_CLASSES.path() in made

    run(main())


def test_a_policy_of_a_kind_that_is_not_served_is_not_made() -> None:
    gate, binding = POLICIES.values()

    async def main() -> None:
        async with FakeApi() as api:
            client = Client(api.access())
            missing = {"kind": "Status", "code": 404, "details": {"name": POLICY_NAME}}
            api.script(gate.path(name=POLICY_NAME), Reply(404, body=missing))
            try:
                await prepare(client, "headroom-system")
            finally:
                await client.close()
            made = [asked.path for asked in api.asked if asked.method == "POST"]
            assert gate.path() in made
            assert binding.path() not in made

    run(main())
