"""Signatures of a release with a key of whoever makes it: ed25519, checked without the network.

Two files are added. `SHA256SUMS.sig` is the plain signature of the checksums, for openssl.
`provenance.dsse.json` is the provenance in an envelope (DSSE), for tools that know in-toto. The
same key and the same files give the same signatures. There is no key service and no public log:
who checks must have the public key from the maker, by a way of their own.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

SIGNATURE, ENVELOPE = "SHA256SUMS.sig", "provenance.dsse.json"
_PAYLOAD = "application/vnd.in-toto+json"
_MAKE_ONE = "make one with: openssl genpkey -algorithm ed25519 -out release.key"


class BadKey(Exception):
    """A file is no ed25519 key; the text says what to do about it."""


def private_key(file: Path) -> Ed25519PrivateKey:
    """Read the key that signs, a PEM file without a passphrase."""
    try:
        key = load_pem_private_key(file.read_bytes(), None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BadKey(f"{file} is no private key without a passphrase: {_MAKE_ONE}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise BadKey(f"{file} is a key of another kind than ed25519: {_MAKE_ONE}")
    return key


def public_key(file: Path) -> Ed25519PublicKey:
    """Read the key that checks, a PEM file."""
    hint = "openssl pkey -in release.key -pubout -out release.pub"
    try:
        key = load_pem_public_key(file.read_bytes())
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        raise BadKey(f"{file} is no public key; its maker writes one with: {hint}") from error
    if not isinstance(key, Ed25519PublicKey):
        raise BadKey(f"{file} is a key of another kind than ed25519")
    return key


def signed(statement: bytes, sums: bytes, key: Ed25519PrivateKey) -> dict[str, bytes]:
    """Return the two files that sign a release."""
    envelope = {
        "payloadType": _PAYLOAD,
        "payload": _text(statement),
        "signatures": [
            {"keyid": key_id(key.public_key()), "sig": _text(key.sign(_encoded(statement)))}
        ],
    }
    text = json.dumps(envelope, indent=2) + "\n"
    return {SIGNATURE: key.sign(sums), ENVELOPE: text.encode()}


def key_id(key: Ed25519PublicKey) -> str:
    """Name a key by the hash of what it is."""
    body = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(body).hexdigest()


def is_signature(key: Ed25519PublicKey, signature: bytes, content: bytes) -> bool:
    try:
        key.verify(signature, content)
    except InvalidSignature:
        return False
    return True


def opened(envelope: bytes, key: Ed25519PublicKey) -> bytes | None:
    """Return the statement in an envelope if this key has signed it."""
    try:
        read: dict[str, Any] = json.loads(envelope)
        statement = base64.b64decode(read["payload"], validate=True)
        marks = [base64.b64decode(each["sig"], validate=True) for each in read["signatures"]]
    except (ValueError, KeyError, TypeError, binascii.Error):
        return None
    if read.get("payloadType") != _PAYLOAD:
        return None
    known = (is_signature(key, mark, _encoded(statement)) for mark in marks)
    return statement if any(known) else None


def _encoded(statement: bytes) -> bytes:
    """What DSSE signs: the kind and the content, each with its length."""
    kind = _PAYLOAD.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(statement), statement)


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
