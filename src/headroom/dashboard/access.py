"""Access to the dashboard's data.

On a loopback address every user of the machine (or with a forwarded port) has access. A `Host`
header with another name than the machine's own is refused, so that a foreign web page cannot use
DNS to read the data. On other addresses a bearer token is required: TokenReview identifies the
user, SubjectAccessReview says what this user may list, first for the whole cluster and only then
namespace by namespace. Answers are cached for a minute.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from aiohttp import web

from headroom.core.names import GROUP
from headroom.dashboard.document import EVERYTHING, VisibleScope
from headroom.kube.answers import Answer
from headroom.kube.errors import KubeError
from headroom.wire.errors import UNREADABLE_JSON

TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
KEPT_S = 60.0
MOST_PEOPLE = 512
MOST_RIGHTS = 50_000  # twenty users with permissions in some of a thousand namespaces
LONGEST_NAMESPACE = 63
MOST_WAITING = 16
LONGEST_TOKEN = 16_384
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
WHO = 'Bearer realm="headroom"'

T = TypeVar("T")


class ReviewClient(Protocol):
    """The part of a client that reviews need."""

    def lane(self) -> ReviewClient: ...

    async def send(
        self, method: str, path: str, body: bytes | None = None, *, repeatable: bool = False
    ) -> Answer: ...


class Gate(Protocol):
    """Decides what a user may see; raises a refusal for a user who may see nothing."""

    async def scope(self, request: web.Request, namespaces: Iterable[str]) -> VisibleScope: ...


def is_loopback(host: str) -> bool:
    """Whether an address can be reached only from this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Local:
    """Every user of this machine, with the machine's own host names."""

    async def scope(self, request: web.Request, namespaces: Iterable[str]) -> VisibleScope:
        if _host(request) not in LOCAL_NAMES:
            text = "ask for it as localhost or 127.0.0.1: other names are refused here\n"
            raise web.HTTPForbidden(text=text)
        return EVERYTHING


@dataclass(frozen=True, slots=True)
class _Person:
    """A user in a TokenReview; `spec` is its form for a SubjectAccessReview."""

    name: str
    spec: str
    key: str


class Reviewed:
    """Users with a token of the cluster, each with their permissions."""

    def __init__(self, client: ReviewClient) -> None:
        self._client = client.lane()
        self._people: _AnswerCache[_Person | None] = _AnswerCache(MOST_PEOPLE)
        self._rights: _AnswerCache[bool] = _AnswerCache(MOST_RIGHTS)
        self._asking = asyncio.Semaphore(4)
        self._waiting = 0
        self.reviews = 0

    async def scope(self, request: web.Request, namespaces: Iterable[str]) -> VisibleScope:
        """The permissions of the user whose token is in the request."""
        person = await self._person(_token(request))
        nodes = await self._may(person, "", "nodes", "")
        found = VisibleScope(
            nodes,
            await self._namespaces(person, "", "pods", namespaces),
            await self._namespaces(person, GROUP, "headrooms", namespaces),
        )
        if not nodes and found.pods == frozenset() and found.objects == frozenset():
            text = (
                f"{person.name} may list neither nodes, nor pods or Headrooms in any namespace "
                "that has something to show\n"
            )
            raise web.HTTPForbidden(text=text)
        return found

    async def _namespaces(
        self, person: _Person, group: str, plural: str, namespaces: Iterable[str]
    ) -> frozenset[str] | None:
        """The namespaces in which a kind may be listed; None means all: one review is enough."""
        if await self._may(person, group, plural, ""):
            return None
        names = sorted(name for name in namespaces if 0 < len(name) <= LONGEST_NAMESPACE)
        answers = await asyncio.gather(*(self._may(person, group, plural, name) for name in names))
        return frozenset(name for name, yes in zip(names, answers, strict=True) if yes)

    async def _person(self, token: str) -> _Person:
        key = hashlib.sha256(token.encode()).hexdigest()
        known, person = self._people.get(key)
        if not known:
            person = await self._whose(token)
            self._people.put(key, person)
        if person is None:
            raise _unauthorized("this token is not one of the cluster, or has expired")
        return person

    async def _whose(self, token: str) -> _Person | None:
        status = await self._ask(TOKEN_REVIEWS, {"token": token})
        user = status.get("user")
        if not status.get("authenticated") or not isinstance(user, dict):
            return None
        kept = {name: user[name] for name in ("uid", "groups", "extra") if user.get(name)}
        spec = msgspec.json.encode({"user": user.get("username", ""), **kept}).decode()
        key = hashlib.sha256(spec.encode()).hexdigest()
        return _Person(str(user.get("username", "")), spec, key)

    async def _may(self, person: _Person, group: str, plural: str, namespace: str) -> bool:
        key = f"{person.key} {group}/{plural} {namespace}"
        known, allowed = self._rights.get(key)
        if known:
            return bool(allowed)
        attributes = {"verb": "list", "group": group, "resource": plural, "namespace": namespace}
        spec = {**msgspec.json.decode(person.spec), "resourceAttributes": attributes}
        status = await self._ask(ACCESS_REVIEWS, spec)
        answer = status.get("allowed") is True
        self._rights.put(key, answer)
        return answer

    async def _ask(self, path: str, spec: dict[str, Any]) -> dict[str, Any]:
        """Send one review; only a limited number runs at once."""
        if self._waiting >= MOST_WAITING and path == TOKEN_REVIEWS:
            raise web.HTTPTooManyRequests(text="too many new tokens at once\n")
        self._waiting += 1
        try:
            async with self._asking:
                self.reviews += 1
                answer = await self._client.send(
                    "POST", path, msgspec.json.encode({"spec": spec}), repeatable=True
                )
            if answer.status == 403:
                text = (
                    "the operator may not review tokens and rights: give it the ClusterRole "
                    "headroom-token-reviews (headroom install --dashboard)\n"
                )
                raise web.HTTPServiceUnavailable(text=text)
            if not answer.ok:
                raise web.HTTPServiceUnavailable(text="the cluster does not answer reviews\n")
            status = msgspec.json.decode(answer.body, type=dict[str, Any]).get("status")
        except (KubeError, *UNREADABLE_JSON):
            raise web.HTTPServiceUnavailable(text="the cluster does not answer reviews\n") from None
        finally:
            self._waiting -= 1
        return status if isinstance(status, dict) else {}


class _AnswerCache(Generic[T]):
    """Answers for a minute; the oldest is dropped if there are too many."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: OrderedDict[str, tuple[float, T]] = OrderedDict()

    def get(self, key: str) -> tuple[bool, T | None]:
        now = asyncio.get_running_loop().time()
        found = self._answers.get(key)
        if found is None or found[0] <= now:
            return False, None
        return True, found[1]

    def put(self, key: str, answer: T) -> None:
        now = asyncio.get_running_loop().time()
        self._answers.pop(key, None)
        self._answers[key] = (now + KEPT_S, answer)
        while len(self._answers) > self._most:
            self._answers.popitem(last=False)


def _token(request: web.Request) -> str:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise _unauthorized("a bearer token of the cluster is needed")
    if len(token) > LONGEST_TOKEN:
        raise _unauthorized("this token is too long")
    if not token.isascii():
        raise _unauthorized("a token is ASCII text")
    return token.strip()


def _unauthorized(why: str) -> web.HTTPUnauthorized:
    return web.HTTPUnauthorized(text=f"{why}\n", headers={"WWW-Authenticate": WHO})


def _host(request: web.Request) -> str:
    """The requested host name, without a port."""
    written = request.headers.get("Host", "")
    if written.startswith("["):
        return written[1:].partition("]")[0]
    return written.partition(":")[0].lower()
