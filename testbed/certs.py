"""A small certificate authority: P-256 keys and X.509 certificates, with the standard library only.

The standard library can check certificates but not create them, and the testbed must not need more.
With its own authority a control plane can identify any user at any time by a client certificate,
and its server certificate exists before the server does. It is for temporary clusters only: the
arithmetic is not protected against timing attacks.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import secrets
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

# The curve P-256, from FIPS 186-4.
_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_A = _P - 3
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
_Point = tuple[int, int]

_LIFETIME = timedelta(days=5 * 365)
_SERVER_AUTH, _CLIENT_AUTH = "1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"


@dataclass(frozen=True)
class KeyPair:
    """A private key and its point on the curve."""

    secret: int
    point: _Point

    @classmethod
    def generate(cls) -> KeyPair:
        secret = 1 + secrets.randbelow(_N - 1)
        return cls(secret, _multiply(secret, _G))

    def pem(self) -> str:
        """Return the key in the SEC 1 form that Go and OpenSSL read."""
        parameters = _der(0xA0, _oid("1.2.840.10045.3.1.7"))
        public = _der(0xA1, _bits(self._uncompressed()))
        secret = _der(0x04, self.secret.to_bytes(32, "big"))
        return _pem("EC PRIVATE KEY", _der(0x30, _integer(1), secret, parameters, public))

    def public_info(self) -> bytes:
        algorithm = _der(0x30, _oid("1.2.840.10045.2.1"), _oid("1.2.840.10045.3.1.7"))
        return _der(0x30, algorithm, _bits(self._uncompressed()))

    def identifier(self) -> bytes:
        return hashlib.sha1(self._uncompressed(), usedforsecurity=False).digest()

    def sign(self, message: bytes) -> bytes:
        """Return an ECDSA signature of the message's SHA-256."""
        digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
        nonce = 1 + secrets.randbelow(_N - 1)
        r = _multiply(nonce, _G)[0] % _N
        s = pow(nonce, -1, _N) * (digest + r * self.secret) % _N
        return _der(0x30, _integer(r), _integer(s))

    def _uncompressed(self) -> bytes:
        x, y = self.point
        return b"\x04" + x.to_bytes(32, "big") + y.to_bytes(32, "big")


class Authority:
    """Signs certificates; its own is `pem`."""

    def __init__(self, name: str) -> None:
        self._key = KeyPair.generate()
        self._name = _distinguished_name(name)
        constraints = [
            _extension("2.5.29.19", _der(0x30, _der(0x01, b"\xff")), critical=True),
            _extension("2.5.29.15", _der(0x03, b"\x01\x06"), critical=True),
        ]
        self.pem = self._certificate(self._name, self._key, constraints)

    def issue_server(self, name: str, addresses: Sequence[str]) -> tuple[str, str]:
        """Return certificate and key for a server that is reached by these names and addresses."""
        alternatives = _der(0x30, *(_general_name(address) for address in addresses))
        return self._issue(
            _distinguished_name(name), _SERVER_AUTH, [_extension("2.5.29.17", alternatives)]
        )

    def issue_client(self, user: str, groups: Iterable[str] = ()) -> tuple[str, str]:
        """Return certificate and key that make their holder this user of these groups."""
        return self._issue(_distinguished_name(user, groups), _CLIENT_AUTH, [])

    def _issue(self, subject: bytes, usage: str, extensions: list[bytes]) -> tuple[str, str]:
        key = KeyPair.generate()
        usages = [
            _extension("2.5.29.15", _der(0x03, b"\x07\x80"), critical=True),
            _extension("2.5.29.37", _der(0x30, _oid(usage))),
        ]
        return self._certificate(subject, key, [*usages, *extensions]), key.pem()

    def _certificate(self, subject: bytes, key: KeyPair, extensions: list[bytes]) -> str:
        now = datetime.now(UTC)
        algorithm = _der(0x30, _oid("1.2.840.10045.4.3.2"))
        identifiers = [
            _extension("2.5.29.14", _der(0x04, key.identifier())),
            _extension("2.5.29.35", _der(0x30, _der(0x80, self._key.identifier()))),
        ]
        body = _der(
            0x30,
            _der(0xA0, _integer(2)),
            _integer(1 + secrets.randbits(120)),
            algorithm,
            self._name,
            _der(0x30, _time(now - timedelta(hours=1)), _time(now + _LIFETIME)),
            subject,
            key.public_info(),
            _der(0xA3, _der(0x30, *extensions, *identifiers)),
        )
        return _pem("CERTIFICATE", _der(0x30, body, algorithm, _bits(self._key.sign(body))))


def _add(left: _Point | None, right: _Point | None) -> _Point | None:
    if left is None or right is None:
        return left or right
    (x1, y1), (x2, y2) = left, right
    if x1 == x2 and (y1 + y2) % _P == 0:
        return None
    if left == right:
        slope = (3 * x1 * x1 + _A) * pow(2 * y1, -1, _P) % _P
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, _P) % _P
    x = (slope * slope - x1 - x2) % _P
    return x, (slope * (x1 - x) - y1) % _P


def _multiply(factor: int, point: _Point) -> _Point:
    total: _Point | None = None
    addend: _Point | None = point
    while factor:
        if factor & 1:
            total = _add(total, addend)
        addend = _add(addend, addend)
        factor >>= 1
    if total is None:
        raise ValueError("a multiple of the curve's order has no coordinates")
    return total


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(octets)]) + octets + content


def _integer(value: int) -> bytes:
    return _der(0x02, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _bits(content: bytes) -> bytes:
    return _der(0x03, b"\x00", content)


def _oid(dotted: str) -> bytes:
    first, second, *rest = map(int, dotted.split("."))
    encoded = bytearray([40 * first + second])
    for arc in rest:
        groups = [arc & 0x7F]
        while arc := arc >> 7:
            groups.append(0x80 | arc & 0x7F)
        encoded.extend(reversed(groups))
    return _der(0x06, bytes(encoded))


def _time(moment: datetime) -> bytes:
    return _der(0x17, moment.strftime("%y%m%d%H%M%SZ").encode())


def _distinguished_name(common_name: str, organisations: Iterable[str] = ()) -> bytes:
    fields = [("2.5.4.10", group) for group in organisations] + [("2.5.4.3", common_name)]
    return _der(
        0x30,
        *(_der(0x31, _der(0x30, _oid(kind), _der(0x0C, value.encode()))) for kind, value in fields),
    )


def _general_name(address: str) -> bytes:
    try:
        return _der(0x87, ipaddress.ip_address(address).packed)
    except ValueError:
        return _der(0x82, address.encode())


def _extension(kind: str, value: bytes, *, critical: bool = False) -> bytes:
    flag = _der(0x01, b"\xff") if critical else b""
    return _der(0x30, _oid(kind), flag, _der(0x04, value))


def _pem(label: str, content: bytes) -> str:
    lines = textwrap.wrap(base64.b64encode(content).decode(), 64)
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])
