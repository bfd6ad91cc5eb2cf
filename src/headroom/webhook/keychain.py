"""The webhook's keys as one value, and when to renew them: pure except for random keys.

A CA signs the serving certificate. A serving certificate near its end is signed again by the same
CA, which needs no other change. A CA near its end is followed by another one, and no API server
ever gets a certificate whose CA it does not know yet:

    ── nears its end ──▶ next is announced ── known to all, for a while ──▶ next signs ──▶ …
                         (both are trusted)                        (the old one is still trusted,
                                                                    until it expires)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.webhook import certificates


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long certificates last; they are renewed when a third of their life is left."""

    authority: timedelta = timedelta(days=365)
    serving: timedelta = timedelta(days=90)
    announced: timedelta = timedelta(minutes=5)
    """How long a new CA is trusted before it signs: every API server has read it by then."""


@dataclass(frozen=True, slots=True)
class Keychain:
    """A CA, the certificate that it signed, the next CA, and the former ones."""

    authority: certificates.Pair
    serving: certificates.Pair
    following: certificates.Pair | None = None
    retired: tuple[str, ...] = ()

    @property
    def bundle(self) -> str:
        """The CA bundle for API servers, as PEM."""
        following = (self.following.certificate,) if self.following is not None else ()
        return "".join((self.authority.certificate, *following, *self.retired))

    def to_data(self) -> dict[str, str]:
        """The content of the Secret."""
        kept = {
            "ca.crt": self.authority.certificate,
            "ca.key": self.authority.key,
            "tls.crt": self.serving.certificate,
            "tls.key": self.serving.key,
        }
        if self.following is not None:
            kept["next-ca.crt"] = self.following.certificate
            kept["next-ca.key"] = self.following.key
        if self.retired:
            kept["retired-ca.crt"] = "".join(self.retired)
        return kept


def read_keychain(data: Mapping[str, str]) -> Keychain | None:
    """Read the content of the Secret; None if it is empty, Unreadable if it is invalid."""
    if not data:
        return None
    try:
        authority = certificates.Pair(data["ca.crt"], data["ca.key"])
        serving = certificates.Pair(data["tls.crt"], data["tls.key"])
        following = None
        if "next-ca.crt" in data:
            following = certificates.Pair(data["next-ca.crt"], data["next-ca.key"])
    except KeyError as error:
        raise certificates.UnreadableCertificate(f"{error.args[0]} is missing") from error
    retired = certificates.split(data.get("retired-ca.crt", ""))
    for pair in (authority, serving, *([following] if following is not None else [])):
        if not certificates.belong_together(pair):
            raise certificates.UnreadableCertificate("a key is not that of its certificate")
    return Keychain(authority, serving, following, retired)


def renewed(
    kept: Keychain | None,
    names: Sequence[str],
    trusted: Sequence[str],
    now: datetime,
    lifetimes: Lifetimes,
) -> Keychain:
    """The keychain with everything renewed that is due; the same object if nothing is.

    `names` are the host names of the webhook, `trusted` the CA bundles of the registration: none
    may lack a CA that is about to sign.
    """
    if kept is None or certificates.facts_of(kept.authority.certificate).ends <= now:
        authority = certificates.new_authority(now, lifetimes.authority)
        return Keychain(authority, certificates.issue(authority, names, now, lifetimes.serving))
    chain = _followed(kept, trusted, now, lifetimes)
    chain = _without_the_ended(chain, now)
    if _is_due(chain, names, now, lifetimes):
        serving = certificates.issue(chain.authority, names, now, lifetimes.serving)
        chain = replace(chain, serving=serving)
    return chain


def _followed(
    chain: Keychain, trusted: Sequence[str], now: datetime, lifetimes: Lifetimes
) -> Keychain:
    """Announce the next CA in time, and let it sign once all API servers trust it."""
    if chain.following is None:
        if _left(chain.authority, now) > lifetimes.authority / 3:
            return chain
        return replace(chain, following=certificates.new_authority(now, lifetimes.authority))
    announced = certificates.facts_of(chain.following.certificate).made
    if now < announced + lifetimes.announced or not _known(chain.following, trusted):
        return chain
    retired = (*chain.retired, chain.authority.certificate)
    return replace(chain, authority=chain.following, following=None, retired=retired)


def _known(authority: certificates.Pair, trusted: Sequence[str]) -> bool:
    return bool(trusted) and all(authority.certificate in bundle for bundle in trusted)


def _without_the_ended(chain: Keychain, now: datetime) -> Keychain:
    alive = tuple(each for each in chain.retired if certificates.facts_of(each).ends > now)
    return replace(chain, retired=alive) if alive != chain.retired else chain


def _is_due(chain: Keychain, names: Sequence[str], now: datetime, lifetimes: Lifetimes) -> bool:
    """Whether the serving certificate must be renewed."""
    left = _left(chain.serving, now)
    # One that ends with its CA would not last longer the next time.
    return (
        (left <= lifetimes.serving / 3 and left < _left(chain.authority, now))
        or set(certificates.facts_of(chain.serving.certificate).names) != set(names)
        or not certificates.signed_by(chain.serving.certificate, chain.authority.certificate)
    )


def _left(pair: certificates.Pair, now: datetime) -> timedelta:
    return certificates.facts_of(pair.certificate).ends - now
