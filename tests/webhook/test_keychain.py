"""Keys over the years: renewed in time, and never shown to anyone who was not told of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from headroom.webhook.certificates import Pair, UnreadableCertificate, facts_of, signed_by, split
from headroom.webhook.keychain import Keychain, Lifetimes, read_keychain, renewed

START = datetime(2027, 1, 4, tzinfo=UTC)
NAMES = ("headroom-webhook.headroom-system.svc",)
USUAL = Lifetimes()
HOUR = timedelta(hours=1)
MADE = renewed(None, NAMES, (), START, USUAL)


def later(days: float, chain: Keychain = MADE, trusted: str | None = None) -> Keychain:
    """The keychain as renewed so many days after its making, all that it needs being trusted."""
    known = chain.bundle if trusted is None else trusted
    return renewed(chain, NAMES, [known], START + timedelta(days=days), USUAL)


def test_the_first_keys_are_good_for_the_names_asked_for() -> None:
    facts = facts_of(MADE.serving.certificate)
    assert facts.names == NAMES
    assert facts.ends == START + USUAL.serving
    assert signed_by(MADE.serving.certificate, MADE.authority.certificate)


def test_as_long_as_nothing_is_due_nothing_changes() -> None:
    assert later(59) is MADE


def test_a_serving_certificate_is_renewed_with_a_third_of_its_life_left() -> None:
    renewed = later(60)
    assert renewed.authority == MADE.authority
    assert facts_of(renewed.serving.certificate).ends == START + timedelta(days=150)


def test_a_new_name_brings_a_new_certificate_by_the_same_authority() -> None:
    renamed = renewed(MADE, ("127.0.0.1", "::1"), (), START, USUAL)
    assert facts_of(renamed.serving.certificate).names == ("127.0.0.1", "::1")
    assert renamed.authority == MADE.authority


def test_the_next_authority_is_announced_before_it_signs() -> None:
    announced = later(244, MADE)
    assert announced.following is not None
    assert announced.authority == MADE.authority
    assert split(announced.bundle) == (MADE.authority.certificate, announced.following.certificate)


@pytest.mark.parametrize(("minutes", "signs"), [(4, False), (6, True)])
def test_the_next_authority_signs_only_after_a_while(minutes: float, signs: bool) -> None:
    announced = later(244)
    then = later(244 + minutes / 24 / 60, announced)
    assert (then.authority == announced.following) is signs
    assert signed_by(then.serving.certificate, then.authority.certificate)


def test_the_next_authority_never_signs_while_somebody_was_not_told_of_it() -> None:
    announced = later(244)
    assert later(300, announced, trusted=MADE.bundle).authority == MADE.authority
    now = START + timedelta(days=300)
    told = [announced.bundle, MADE.bundle]  # One entry of two.
    assert renewed(announced, NAMES, told, now, USUAL).authority == MADE.authority
    assert renewed(announced, NAMES, (), now, USUAL).authority == MADE.authority


def test_an_authority_is_trusted_until_it_ends_by_itself() -> None:
    followed = later(245, later(244))
    assert followed.retired == (MADE.authority.certificate,)
    assert later(364, followed).retired == followed.retired
    assert later(365, followed).retired == ()


def test_an_authority_that_has_ended_is_replaced_at_once() -> None:
    fresh = later(365)
    assert fresh.authority != MADE.authority
    assert fresh.retired == ()


def test_a_certificate_that_ends_with_its_authority_is_not_made_again_and_again() -> None:
    untold = MADE
    for days in (243, 300, 330):
        untold = later(days, untold, trusted="")
    assert facts_of(untold.serving.certificate).ends == START + USUAL.authority
    assert later(350, untold, trusted="") is untold


def test_what_is_kept_is_read_back() -> None:
    announced = later(245, later(244))
    for chain in (MADE, later(244), announced):
        assert read_keychain(chain.to_data()) == chain
    assert read_keychain({}) is None


@pytest.mark.parametrize(
    "data",
    [
        {"ca.crt": "x"},
        {**MADE.to_data(), "tls.crt": "nonsense"},
        {**MADE.to_data(), "ca.key": ""},
        {**MADE.to_data(), "tls.key": MADE.authority.key},
        {**MADE.to_data(), "next-ca.crt": MADE.authority.certificate},
        {**MADE.to_data(), "retired-ca.crt": "nonsense"},
    ],
    ids=["part", "no-certificate", "no-key", "other-key", "half-a-pair", "no-bundle"],
)
def test_what_cannot_be_used_is_told(data: dict[str, str]) -> None:
    with pytest.raises(UnreadableCertificate):
        read_keychain(data)


@dataclass
class Fleet:
    """Replicas that share keys, and an API server that learns of bundles a little later."""

    lifetimes: Lifetimes
    chain: Keychain
    announced: str = ""
    told: list[tuple[datetime, str]] = field(default_factory=list)
    served: list[Pair] = field(default_factory=list)

    def round(self, replica: int, now: datetime) -> None:
        self.chain = renewed(self.chain, NAMES, [self.announced], now, self.lifetimes)
        self.served[replica] = self.chain.serving
        if self.announced != self.chain.bundle:
            self.announced = self.chain.bundle
            self.told.append((now, self.announced))

    def believed(self, now: datetime, lag: timedelta) -> str:
        return [bundle for at, bundle in self.told if at + lag <= now][-1]


@pytest.mark.parametrize("seed", range(3))
def test_through_all_changes_every_replica_is_trusted_all_the_time(seed: int) -> None:
    """In minutes instead of days: the order of things is what matters."""
    chance = random.Random(seed)
    minute = timedelta(minutes=1)
    quick = Lifetimes(authority=60 * minute, serving=15 * minute, announced=5 * minute)
    first = renewed(None, NAMES, (), START, quick)
    fleet = Fleet(quick, first, first.bundle, [(START - HOUR, first.bundle)], [first.serving] * 2)
    signers = {first.authority.certificate}
    for number in range(150):
        now = START + number * minute
        for replica in (0, 1):
            if chance.random() < 0.5:  # Rounds are not in step, and some come late.
                fleet.round(replica, now)
        believed = split(fleet.believed(now, lag=4 * minute))
        for pair in fleet.served:
            assert any(signed_by(pair.certificate, each) for each in believed), number
            assert facts_of(pair.certificate).ends > now, number
        signers.add(fleet.chain.authority.certificate)
    assert len(signers) >= 3


def test_keys_of_one_authority_do_not_pass_for_those_of_another() -> None:
    other = renewed(None, NAMES, (), START, USUAL)
    assert not signed_by(MADE.serving.certificate, other.authority.certificate)
    mixed = replace(MADE, authority=other.authority)
    assert later(1, mixed).serving != MADE.serving
