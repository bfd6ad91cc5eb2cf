"""An engine and a toy cluster, driven by hand: told, planned, performed, settled, step by step.

`Play.run` is the driver without its loop and its clock: everything due happens, then time jumps to
the next timer, until nothing is left before the horizon.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from headroom.core.actions import Action, Done, Outcome
from headroom.core.holds import Hold
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Synced, Thing
from tests.builders import NOON
from tests.engine.toy import Toy

MOST_ROUNDS = 500
Answer = Callable[[Action], Outcome | None]


class Play:
    """`answer`, when set, may answer an action instead of the toy; None lets it happen."""

    def __init__(self, *things: Thing, policy: Policy | None = None) -> None:
        self.toy = Toy(*things)
        self.engine = Engine(policy or Policy())
        self.now: datetime = NOON
        self.done: list[Action] = []
        self.answer: Answer | None = None
        self._wake_at: datetime | None = None
        self.engine.observe(Synced(), self.now)

    def run(self, seconds: float = 10.0, scheduling: bool = True) -> None:
        """Let everything happen that happens within so much time."""
        end = self.now + timedelta(seconds=seconds)
        for _ in range(MOST_ROUNDS):
            if self.round() or (scheduling and self.toy.schedule()):
                continue
            wake = self._wake_at
            if wake is None or wake > end:
                self.now = end
                return
            self.now = max(self.now, wake)
        raise AssertionError(f"not quiet after {MOST_ROUNDS} rounds: {self.done[-6:]}")

    def round(self) -> bool:
        """Tell, plan and perform once; say whether anything was done."""
        self.tell()
        plan = self.engine.plan(self.now)
        self._wake_at = plan.wake_at
        for sequence in plan.sequences:
            self.perform(sequence)
        return bool(plan.sequences) or bool(self.toy.events)

    def tell(self) -> None:
        """Tell the engine what has happened."""
        events, self.toy.events = self.toy.events, []
        for event in events:
            self.engine.observe(event, self.now)

    def plan(self) -> tuple[Sequence, ...]:
        """Tell and plan, but perform nothing."""
        self.tell()
        return self.engine.plan(self.now).sequences

    def perform(self, sequence: Sequence) -> bool:
        """Go through a sequence as the driver does."""
        completed = True
        for number, step in enumerate(sequence.steps):
            halted = number and self.engine.halts(sequence, number, self.now)
            going = [self._act(action) for action in step] if not halted else [False]
            if not all(going):
                completed = False
                break
        self.engine.finish(sequence, completed, self.now)
        return completed

    def _act(self, action: Action) -> bool:
        answered = self.answer(action) if self.answer is not None else None
        outcome = self.toy.perform(action) if answered is None else answered
        if isinstance(outcome, Done):
            self.done.append(action)
        return self.engine.settle(action, outcome, self.now)

    def restart(self) -> None:
        """Let another operator take over, who knows only what it sees."""
        self.engine = Engine(self.engine.ledger.policy)
        self.toy.events.clear()
        toy = self.toy
        everything: list[Thing] = [
            *toy.nodes.values(),
            *toy.holds.values(),
            *toy.headrooms.values(),
            *toy.pods.values(),
        ]
        for thing in everything:
            toy.put(thing)
        self.tell()
        self.engine.observe(Synced(), self.now)

    def put(self, *things: Thing) -> None:
        for thing in things:
            self.toy.put(thing)

    def pod(self, name: str) -> Pod:
        return self.toy.pods[Key("default", name)]

    def hold(self, name: str) -> Hold:
        return self.toy.holds[f"Hold/default/{name}"]

    def ours(self, role: str) -> list[Pod]:
        """Pods of ours by role."""
        return [
            pod for pod in self.toy.pods.values() if pod.labels.get("headroom.dev/role") == role
        ]

    def did(self, *kinds: type[Action]) -> list[str]:
        """The kinds of what was done, in order; only these kinds, if any are given."""
        return [type(each).__name__ for each in self.done if not kinds or isinstance(each, kinds)]
