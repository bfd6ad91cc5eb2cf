"""How many examples a property is tried with: all in `make test`, a few in `make test-fast`.

`SAMPLES=few` asks for the few. What a property claims is the same; only the search is shorter.
"""

from __future__ import annotations

import gc
import os

from hypothesis import settings

FEW = os.environ.get("SAMPLES") == "few"
LEAST = 15
COLLECTING = (20_000, 20, 100)


def few(count: int) -> int:
    """So many, or a fifth of them where time matters more."""
    return max(min(count, LEAST), count // 5) if FEW else count


def stride() -> int:
    """How far apart those are that are looked at, of things that are tried one by one."""
    return 3 if FEW else 1


def examples(count: int) -> settings:
    """At most so many examples, and no clock: a busy machine must not make a property fail."""
    return settings(max_examples=few(count), deadline=None)


settings.register_profile("ours", examples(100))
settings.load_profile("ours")


def pytest_collection_finish() -> None:
    """What was collected stays until the end: it need not be looked through for garbage.

    What tests leave is looked through less often than usual, but more often than in a simulated
    world.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTING)
