"""How fast guardians are created: which holds wait for a turn, and what a refusal means for others.

`core.waits.pace` has the rules. The ledger has the pace of each Headroom, of the Holds of one shape
in a namespace, and of each namespace. A hold that wants a guardian is either being written or waits
for a pace; no other hold has a timer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice

from headroom.core.actions import CreateGuardian, Denied, Gone, Invalid, Outcome, Taken
from headroom.core.demand.resource_quotas import ResourceQuota
from headroom.core.derived_names import shape_of
from headroom.core.fast_dataclass import replace
from headroom.core.holds import Hold
from headroom.core.index_entries import By, Entry
from headroom.core.objects import Key
from headroom.core.subjects import Subject, Topic, hold_subject
from headroom.core.waits import pace as paces
from headroom.core.waits.pace import Pace
from headroom.engine.ledger import Ledger


def closed_pace(ledger: Ledger, hold: Hold, now: datetime) -> Subject | None:
    """The pace that allows no guardian of a hold now, if there is one."""
    for subject in _subjects(hold):
        pace, under_way = ledger.paces.get(subject), ledger.turns.of(By.PACE_UNDER_WAY, subject)
        if pace is not None and not pace.free(len(under_way), now):
            return subject
    return None


def refusal_of(ledger: Ledger, hold: Hold) -> str:
    """Why the API server refused the last guardian of this parent, while that counts."""
    pace = ledger.paces.get(_subjects(hold)[0])
    return pace.why if pace is not None and pace.refusals else ""


def wants_guardian(ledger: Ledger, hold: Hold) -> None:
    """A hold wants a guardian: refusals of its former shape no longer count."""
    if not _noted(ledger, hold).keys() <= set(_subjects(hold)):
        forget(ledger, hold)
    parent = _subjects(hold)[0]
    if parent in ledger.paces:
        ledger.paces[parent] = paces.for_shape(ledger.paces[parent], shape_of(hold))


def wait_for_turn(ledger: Ledger, hold: Hold, closed: Subject, now: datetime) -> None:
    """Decide a hold again when this pace allows its guardian."""
    _enqueue(ledger, hold, closed)
    not_before = ledger.paces[closed].not_before
    if not_before is not None and now < not_before:
        ledger.agenda.later(closed, not_before)


def begun(ledger: Ledger, hold: Hold) -> None:
    """A guardian is being created."""
    for each in _subjects(hold):
        ledger.paces[each] = _pace(ledger, each, hold)
    entries = tuple(Entry(By.PACE_UNDER_WAY, each) for each in _subjects(hold))
    ledger.turns.put(hold_subject(hold.parent), entries)


def ended(ledger: Ledger, hold: Hold) -> None:
    """It was created, or the write failed: another hold may have the turn."""
    noted, subject = _noted(ledger, hold), hold_subject(hold.parent)
    waits = tuple(each for each in ledger.turns.entries(subject) if each.by is By.PACE_WAITING)
    ledger.turns.put(subject, waits)
    _next(ledger, noted)


def forget(ledger: Ledger, hold: Hold) -> None:
    """A hold is gone, is of another shape, or wants no guardian just now."""
    noted = _noted(ledger, hold)
    if noted:
        ledger.turns.put(hold_subject(hold.parent))
        _next(ledger, noted)


def made(ledger: Ledger, hold: Hold) -> None:
    """The API server accepted a guardian."""
    _change(ledger, hold, paces.made)


def guardian_refused(
    ledger: Ledger, action: CreateGuardian, outcome: Outcome, now: datetime
) -> None:
    """Process the refusal of a guardian.

    What the API server refuses by a rule pauses all of that parent; a name that is taken, or no
    answer at all, concerns this one.
    """
    hold, why = action.hold, getattr(outcome, "message", "")
    parent, subject = hold.parent.identity, hold_subject(hold.parent)
    if parent not in ledger.holds:  # It was deleted meanwhile.
        return
    if isinstance(outcome, Taken):
        stranger = Key(hold.guardian_namespace, action.name)
        why = f"pod {stranger} has the guardian's name; it is made when that pod is gone"
    ledger.memory[parent] = replace(ledger.memory[parent], trouble=why)
    if isinstance(outcome, Denied | Invalid | Gone) and not action.bound:
        _pause(ledger, hold, _for_all(why, action.name), now)
    else:
        _change(ledger, hold, paces.slowed)
        ledger.agenda.failed(subject, now, ledger.policy.guardian_retry)
        ledger.agenda.touch(subject)


def look(ledger: Ledger, subject: Subject, now: datetime) -> None:
    """Give the free turns of a pace to holds that wait for one."""
    pace, waiting = ledger.paces.get(subject), ledger.turns.of(By.PACE_WAITING, subject)
    if pace is None or not waiting:
        return
    if pace.not_before is not None and now < pace.not_before:
        ledger.agenda.later(subject, pace.not_before)
        return
    under_way = len(ledger.turns.of(By.PACE_UNDER_WAY, subject))
    for hold in tuple(islice(waiting, pace.free(under_way, now))):
        noted = ledger.turns.entries(hold)
        ledger.turns.put(hold, tuple(each for each in noted if each.value != subject))
        ledger.turns.put(hold, noted)  # It begins now, or withdraws, or waits as the last.
        ledger.agenda.touch(hold)


def quota_changed(
    ledger: Ledger, before: ResourceQuota | None, quota: ResourceQuota, now: datetime
) -> None:
    """A quota has changed: if it leaves more room than before, waiting holds try again."""
    if before is None or not paces.leaves_more(before, quota):
        return
    for subject, pace in ledger.paces.items():
        if pace.namespace == quota.namespace and pace.not_before is not None:
            grown = ledger.paces[subject] = paces.quota_grew(pace, before, quota, now)
            ledger.agenda.later(subject, grown.not_before or now)


def quota_lifted(ledger: Ledger, namespace: str) -> None:
    """A quota is gone: waiting holds try again at once."""
    for subject, pace in ledger.paces.items():
        if pace.namespace == namespace:
            ledger.paces[subject] = paces.quota_lifted(pace)
            ledger.agenda.touch(subject)


def _pause(ledger: Ledger, hold: Hold, why: str, now: datetime) -> None:
    """The API server refused a guardian: similar ones wait, and one of them tries again later."""
    parent, home = _subjects(hold)
    first = ledger.policy.guardian_retry
    own = paces.refused(_pace(ledger, parent, hold), why, shape_of(hold), first, now)
    shared = paces.refused_in_namespace(_pace(ledger, home, hold), now)
    _enqueue(ledger, hold, parent)
    for subject, pace in ((parent, own), (home, shared)):
        ledger.paces[subject] = pace
        ledger.agenda.later(subject, pace.not_before or now)


def _enqueue(ledger: Ledger, hold: Hold, at: Subject) -> None:
    subject = hold_subject(hold.parent)
    noted = ledger.turns.entries(subject)
    ledger.turns.put(subject, tuple(dict.fromkeys((*noted, Entry(By.PACE_WAITING, at)))))


def _noted(ledger: Ledger, hold: Hold) -> dict[Subject, None]:
    """The paces that a hold waits for, or that count its guardian as being created."""
    entries = ledger.turns.entries(hold_subject(hold.parent))
    return {each.value: None for each in entries if isinstance(each.value, Subject)}


def _next(ledger: Ledger, subjects: Iterable[Subject]) -> None:
    """A place is free: decide the next hold, and forget a pace that no hold waits for."""
    for subject in subjects:
        if ledger.turns.of(By.PACE_WAITING, subject):
            ledger.agenda.touch(subject)
        elif not ledger.turns.of(By.PACE_UNDER_WAY, subject):
            ledger.paces.pop(subject, None)
            ledger.agenda.forget(subject)


def _pace(ledger: Ledger, subject: Subject, hold: Hold) -> Pace:
    policy, shared = ledger.policy, subject == _subjects(hold)[1]
    most = policy.guardians_per_namespace if shared else policy.guardians_at_once
    return ledger.paces.get(subject) or Pace(hold.home, most)


def _change(ledger: Ledger, hold: Hold, by: Callable[[Pace], Pace]) -> None:
    for subject in _subjects(hold):
        if subject in ledger.paces:
            ledger.paces[subject] = by(ledger.paces[subject])


def _subjects(hold: Hold) -> tuple[Subject, Subject]:
    """The paces that apply to a hold: that of its parent, and that of its namespace.

    The pace of a Headroom takes its turns with its namespace.
    """
    home = Subject(Topic.PACE, hold.home)
    if hold.slot:
        return Subject(Topic.PACE, hold.parent.whole, hold.parent.namespace), home
    return Subject(Topic.PACE, f"{hold.home} {shape_of(hold)}"), home


def _for_all(why: str, name: str) -> str:
    """The message of a refusal, changed so that it is true for every hold that waits.

    The API server names the pod. This name belongs to one hold, and to another one at each try.
    """
    for pods in (f'pods "{name}"', f'Pod "{name}"'):
        why = why.replace(pods, "a guardian of the same shape")
    return why
