"""The books of quotas after any history say what a plain recount says, and never oversell."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from headroom.core.holds import Hold
from headroom.core.objects import LabelSelector, Requirement
from headroom.core.resources import EMPTY, Resources
from headroom.dialects.korder.rules.limits import Ceiling, QuotaShare, Scope
from headroom.dialects.korder.rules.quota import KorderQuota
from headroom.engine import quotas
from tests.engine.quota_builder import Desk, quota, ticket
from tests.samples import examples

NAMESPACES = ("mill", "shop")
TEAM_A = LabelSelector((Requirement("team", "In", ("a",)),))
SCOPES = (
    Scope("NamespaceList", ("shop",)),
    Scope("NamespaceSelector", selector=TEAM_A),
    Scope("ObjectSelector", selector=TEAM_A),
)
TEAMS = st.sampled_from(("a", "b"))
PLACES = st.sampled_from(NAMESPACES)
NAMES = st.sampled_from("stuvwxyz")
CORES = st.integers(1, 4)
ASK = st.tuples(st.just("ask"), NAMES, PLACES, TEAMS, CORES)
LOSE = st.tuples(st.just("lose"), NAMES, PLACES)
RELABEL = st.tuples(st.just("relabel"), PLACES, TEAMS)
LIMIT = st.tuples(st.just("limit"), st.sampled_from((0, 1, 2)), st.integers(0, 8))
DROP = st.tuples(st.just("drop"), st.sampled_from((0, 1, 2)))
HISTORIES = st.lists(st.one_of(ASK, LOSE, RELABEL, LIMIT, DROP), max_size=25)


@dataclass
class Model:
    """The same, in the plainest way: everything is added up anew at each question."""

    quotas: dict[int, KorderQuota] = field(default_factory=dict)
    teams: dict[str, str] = field(default_factory=dict)
    held: dict[str, Hold] = field(default_factory=dict)

    def counts(self, scope: Scope, held: Hold) -> bool:
        place = held.parent.namespace
        match scope.kind:
            case "NamespaceList":
                return place in scope.namespaces
            case "NamespaceSelector":
                return self.teams.get(place) == "a"
        return held.labels["team"] == "a"

    def used(self, scope: Scope, place: str = "") -> Resources:
        total = EMPTY
        for held in self.held.values():
            if self.counts(scope, held) and place in ("", held.parent.namespace):
                cpu = held.template.pod.requests["cpu"]
                total = total + Resources({"tickets": 1, "reserved.cpu": cpu})
        return total

    def fits(self, wanted: Hold) -> bool:
        cpu, place = wanted.template.pod.requests["cpu"], wanted.parent.namespace
        for each in self.quotas.values():
            if not self.counts(each.scope, wanted):
                continue
            if self.used(each.scope)["reserved.cpu"] + cpu > each.hard.amounts["reserved.cpu"]:
                return False
            for share in each.shares:
                there = self.used(each.scope, place)["reserved.cpu"]
                if share.namespace == place and there + cpu > share.ceiling.amounts["reserved.cpu"]:
                    return False
        return True


def limited(number: int, cores: int, generation: int) -> KorderQuota:
    share = QuotaShare("shop", Ceiling({"reserved.cpu": 3000}))
    return quota(f"q{number}", SCOPES[number], cpu=cores, generation=generation, shares=(share,))


def step(desk: Desk, model: Model, event: tuple[object, ...], moment: int) -> None:
    match event:
        case ("ask", str(name), str(place), str(team), int(cores)):
            wanted = ticket(name, cores, place, labels={"team": team})
            known = str(wanted.parent) in model.held
            granted = desk.why(wanted) is None
            assert granted is (known or model.fits(wanted))
            if granted and not known:
                model.held[str(wanted.parent)] = wanted
        case ("lose", str(name), str(place)):
            lost = ticket(name, 1, place)
            model.held.pop(str(lost.parent), None)
            quotas.lose(desk.ledger, lost.parent)
        case ("relabel", str(place), str(team)):
            model.teams[place] = team
            desk.label(place, {"team": team})
        case ("limit", int(number), int(cores)):
            model.quotas[number] = limited(number, cores, moment)
            quotas.see_quota(desk.ledger, model.quotas[number])
        case ("drop", int(number)):
            gone = model.quotas.pop(number, None)
            if gone is not None:
                quotas.lose_quota(desk.ledger, gone.parent)


@examples(60)
@given(HISTORIES)
def test_the_books_say_what_a_recount_says(history: list[tuple[object, ...]]) -> None:
    desk, model = Desk(), Model()
    for moment, event in enumerate(history, 1):
        step(desk, model, event, moment)
    for number, each in model.quotas.items():
        assert desk.status(f"q{number}").used == model.used(each.scope)
