"""Contested handovers while kube-scheduler is killed and started again: nobody lost, nobody let in.

Fake nodes are exactly full of holds, and rivals of the owners' priority wait for any room. Owners
come through each door in turn, paced and in bursts; meanwhile kube-scheduler is killed again and
again. A rival that gets a node, an owner that gets none (or no claim, or one that another has too),
a node with more pods than it has room for and a latch or gate that stays: each is a fault, and the
exit status is 1. Rounds follow each other until so many handovers are done or the time is over.

kube-scheduler elects a leader, as it does where nobody says otherwise: one that was killed is
followed after `--lease` seconds (15, as shipped). With `--lease 0` there is no election. Then a
kube-scheduler before 1.37 that starts in the middle of a handover does not know its nominations,
and a rival may get in: docs/decisions/0084.

    python -m bench.contested [--handovers 200] [--group 50] [--nodes 5] [--rivals 20]
                              [--pace 20] [--kill-every 10] [--lease 15] [--minutes 60]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench import rows
from bench.handover import POD_PATH, Setting, clean, come, fill, owner
from bench.lab import Lab, cluster, lab, pod
from headroom.core.names import CLAIM_GATE, CLAIMED_ANNOTATION, ROLE_LABEL, ROLE_LATCH
from headroom.core.objects import Pod
from testbed.controlplane import ControlPlane

SCHEDULER = "kube-scheduler"
ROUNDS = tuple(itertools.product(("paced", "burst"), ("door 1", "door 2")))
PATIENCE_S = 300.0
SETTLE_S = 3.0
TOLD = 20  # faults; the rest is counted


@dataclass
class Tally:
    """What became of all handovers so far."""

    handovers: Counter[str] = field(default_factory=Counter)  # by way and door
    kills: int = 0
    restarts: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def by_kind(self) -> tuple[int, int, int]:
        """How many owners were lost, how many rivals were let in, and all other faults."""
        lost = sum(fault.startswith("owner") for fault in self.faults)
        let_in = sum(fault.startswith("rival") for fault in self.faults)
        return lost, let_in, len(self.faults) - lost - let_in

    def __str__(self) -> str:
        lost, let_in, others = self.by_kind
        ways = ", ".join(f"{count} {way}" for way, count in self.handovers.items())
        return (
            f"{self.handovers.total()} handovers ({ways}), {SCHEDULER} killed {self.kills} times, "
            f"the operator started again {self.restarts} times: "
            f"{lost} owners lost, {let_in} rivals let in, {others} other faults"
        )


@dataclass
class Killer:
    """Kills kube-scheduler and starts it again, at moments that the seed decides."""

    plane: ControlPlane
    every: float
    lease: float
    chance: random.Random
    kills: int = 0

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Kill until the block ends; then kube-scheduler runs."""
        ended = asyncio.Event()
        work = asyncio.create_task(self._work(ended))
        try:
            yield
        finally:
            ended.set()
            await work

    async def _work(self, ended: asyncio.Event) -> None:
        pause = self.chance.uniform(0.0, 0.5)  # The first comes at once, in every round.
        while not await _is_set_within(ended, pause):
            await asyncio.to_thread(self.plane.kill, SCHEDULER)
            self.kills += 1
            await asyncio.sleep(self.chance.uniform(0.0, 1.0))
            await asyncio.to_thread(self.plane.start_component, SCHEDULER)
            pause = self.lease + self.chance.uniform(0.5, 1.5) * self.every


@dataclass
class Deployment:
    """Keeps the operator running: one that has lost its lead ends, and is started again."""

    plane: ControlPlane
    log: Path
    restarts: int = -1

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        work = asyncio.create_task(self._work())
        try:
            yield
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _work(self) -> None:
        program = str(Path(sys.executable).with_name("headroom"))
        while True:
            self.restarts += 1
            with self.log.open("a") as log:
                process = await asyncio.create_subprocess_exec(
                    *(program, "run", "--kubeconfig", str(self.plane.kubeconfig)),
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                )
            try:
                await process.wait()
            finally:
                if process.returncode is None:
                    process.terminate()
                    await process.wait()


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    return event.is_set()


def page_rows(tally: Tally) -> Iterator[rows.Row]:
    """What must never happen, and did not."""
    scale = f"{tally.handovers.total():,} handovers, {SCHEDULER} killed {tally.kills} times"
    names = ("owners lost", "rivals let in", "other faults")
    for name, count in zip(names, tally.by_kind, strict=True):
        yield rows.Row(name, count, "", aim=rows.Aim(0), scale=scale)


async def one_round(here: Lab, setting: Setting, killer: Killer, number: int, tally: Tally) -> None:
    """Fill the nodes, let the owners come, look what became of everybody, and clean up."""
    way, door = ROUNDS[number % len(ROUNDS)]
    prefix = f"round-{number}"
    await fill(here, setting, door, prefix)
    rivals = [f"{prefix}-rival-{each}" for each in range(setting.rivals)]
    owners = [f"{prefix}-{each}" for each in range(setting.owners)]
    await here.create_all(POD_PATH, (pod(rival, "1") for rival in rivals))
    await asyncio.sleep(SETTLE_S)
    async with killer.at_work():
        await come(here, setting, way, (owner(door, who) for who in owners))
        await here.until("owners bound", lambda: here.bound(owners) == len(owners), PATIENCE_S)
    await here.until("nothing is left", lambda: not left_over(here), PATIENCE_S)
    await asyncio.sleep(SETTLE_S)  # Whoever has waited has had another chance by now.
    tally.handovers[f"{way} through {door}"] += len(owners)
    tally.kills, killer.kills = tally.kills + killer.kills, 0
    tally.faults += faults(here, setting, owners, rivals)
    await clean(here)


def left_over(here: Lab) -> list[str]:
    """Latches, and owners at the gate."""
    return [
        f"{each.key} is left"
        for each in here.pods.values()
        if each.labels.get(ROLE_LABEL) == ROLE_LATCH or CLAIM_GATE in each.gates
    ]


def faults(here: Lab, setting: Setting, owners: list[str], rivals: list[str]) -> list[str]:
    """All that must not be, a line each."""
    known = {each.key.name: each for each in here.pods.values()}
    found = [f"rival {name} was let in" for name in rivals if name in here.bound_at]
    given: dict[str, str] = {}
    for name in owners:
        claim = known[name].annotations.get(CLAIMED_ANNOTATION, "") if name in known else ""
        if not claim or not known[name].node or known[name].phase == "Failed":
            found.append(f"owner {name} is lost: {_state(known.get(name))}")
        elif claim in given:
            found.append(f"owner {name} has the hold of {given[claim]}: {claim}")
        given.setdefault(claim, name)
    load = Counter(each.node for each in known.values() if each.node and each.occupies_node)
    most = setting.slots_per_node
    found += [f"node {node} has {count} pods" for node, count in load.items() if count > most]
    return found + left_over(here)


def election(lease: int) -> tuple[str, ...]:
    """The flags that have kube-scheduler elect a leader whose lease lasts so many seconds."""
    if not lease:
        return ()
    return (
        "--leader-elect=true",
        f"--leader-elect-lease-duration={lease}s",
        f"--leader-elect-renew-deadline={max(1, 3 * lease // 4)}s",
        f"--leader-elect-retry-period={max(1, lease // 4)}s",
    )


def _state(each: Pod | None) -> str:
    if each is None:
        return "gone"
    return f"node {each.node!r}, {each.phase}, gates {each.gates}, {dict(each.annotations)}"


async def run(plane: ControlPlane, options: argparse.Namespace, log: Path) -> Tally:
    tally = Tally()
    killer = Killer(plane, options.kill_every, options.lease, random.Random(options.seed))
    setting = Setting(options.group, options.nodes, options.rivals, options.pace)
    ends = time.perf_counter() + 60 * options.minutes
    deployment = Deployment(plane, log)
    async with lab(plane) as here, deployment.at_work():
        for number in itertools.count():
            if tally.handovers.total() >= options.handovers or time.perf_counter() > ends:
                return tally
            await one_round(here, setting, killer, number, tally)
            tally.restarts = deployment.restarts
            print(tally, *tally.faults[:TOLD], sep="\n  ", file=sys.stderr, flush=True)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--handovers", type=int, default=200)
    parser.add_argument("--group", type=int, default=50, help="owners of a round")
    parser.add_argument("--nodes", type=int, default=5)
    parser.add_argument("--rivals", type=int, default=20)
    parser.add_argument("--pace", type=float, default=20.0)
    parser.add_argument("--kill-every", type=float, default=10.0, help="seconds of its work, about")
    parser.add_argument("--lease", type=int, default=15, help="seconds; 0: no leader election")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--logs", type=Path, help="where the operator's log stays")
    rows.add_option(parser)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as scratch,
        cluster(
            options.nodes, options.group // options.nodes, scheduler_args=election(options.lease)
        ) as plane,
    ):
        log = (options.logs or Path(scratch)) / "operator.log"
        tally = asyncio.run(run(plane, options, log))
    print(tally, *tally.faults[:TOLD], sep="\n  ")
    rows.write(options.rows, page_rows(tally))
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
