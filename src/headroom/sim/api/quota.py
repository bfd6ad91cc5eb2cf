"""ResourceQuota for pods: how much the pods of a namespace may request in total.

It counts pods and their requests of CPU and memory, for pods that have not ended, and refuses a pod
beyond the quota with the message of the real plugin. Limits, scopes and other resources are not
modelled; a quota that names any of them is reported when it is created.
"""

from __future__ import annotations

from collections.abc import Iterable

from headroom.core.quantity import parse_quantity
from headroom.core.resources import CPU, MEMORY, Resources
from headroom.sim.api import kinds
from headroom.sim.api.values import Json, dig
from headroom.sim.errors import ApiError, forbidden

PODS = ("pods", "count/pods")
REQUESTS = {"cpu": CPU, "memory": MEMORY, "requests.cpu": CPU, "requests.memory": MEMORY}


def unmodelled(quota: Json) -> list[str]:
    """The parts of a quota that have no effect in the simulation."""
    names = [name for name in sorted(dig(quota, "spec", "hard") or {}) if not _is_modelled(name)]
    if dig(quota, "spec", "scopes") or dig(quota, "spec", "scopeSelector"):
        names.append("scopes")
    return names


def _is_modelled(name: str) -> bool:
    return name in PODS or name in REQUESTS


def refusal(
    name: str, requests: Resources, others: Iterable[Resources], quota: Json
) -> ApiError | None:
    """Why one more pod with these requests would exceed a quota; None if it would not."""
    present = list(others)
    used = sum(present, Resources())
    broken = []
    for resource, limit in sorted((dig(quota, "spec", "hard") or {}).items()):
        if resource in PODS:
            asked, taken, most = 1, len(present), parse_quantity(str(limit)).value()
        elif resource in REQUESTS:
            counted = REQUESTS[resource]
            asked, taken = requests[counted], used[counted]
            most = _amount(counted, str(limit))
        else:
            continue
        if asked + taken > most:
            broken.append((resource, asked, taken, str(limit)))
    if not broken:
        return None
    spell = [", ".join(f"{item[0]}={_spelled(*item, at)}" for item in broken) for at in (1, 2, 3)]
    words = f"exceeded quota: {dig(quota, 'metadata', 'name')}, requested: {spell[0]}, "
    return forbidden(kinds.POD, name, f"{words}used: {spell[1]}, limited: {spell[2]}")


def _amount(resource: str, text: str) -> int:
    quantity = parse_quantity(text)
    return quantity.milli_value() if resource == CPU else quantity.value()


def _spelled(resource: str, asked: int, taken: int, limit: str, at: int) -> str:
    if at == 3:
        return limit
    amount = asked if at == 1 else taken
    is_cpu = REQUESTS.get(resource) == CPU
    return f"{amount}m" if is_cpu and amount % 1000 else str(amount // 1000 if is_cpu else amount)
