"""Create and read certificates: our own CAs, and the certificates that they sign for the webhook.

Only this module uses the `cryptography` library. Times are parameters, never read from a clock, so
that `keychain` can decide and tests can choose them. Certificates begin an hour before their
creation, because the clocks of machines differ.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

BACKDATED = timedelta(hours=1)


class UnreadableCertificate(ValueError):
    """A certificate or key that is invalid, or of another kind than ours."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, both PEM."""

    certificate: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """The fields of a certificate."""

    made: datetime
    ends: datetime
    names: tuple[str, ...] = ()


def new_authority(now: datetime, lifetime: timedelta) -> Pair:
    """Create a CA that may sign only server certificates."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(f"headroom-webhook-{now:%Y%m%d%H%M%S}")
    builder = _dated(x509.CertificateBuilder().subject_name(name).issuer_name(name), now, lifetime)
    made = (
        builder.public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return _pair(made, key)


def issue(authority: Pair, names: Iterable[str], now: datetime, lifetime: timedelta) -> Pair:
    """Sign a server certificate; it never outlives its CA."""
    signer, signing_key = _certificate(authority.certificate), _key(authority.key)
    key = ec.generate_private_key(ec.SECP256R1())
    within = min(lifetime, signer.not_valid_after_utc - now)
    wanted = x509.SubjectAlternativeName([_general_name(name) for name in names])
    subject = _name("headroom-webhook")
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(signer.subject)
    made = (
        _dated(builder, now, within)
        .public_key(key.public_key())
        .add_extension(wanted, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()),
            critical=False,
        )
        .sign(signing_key, hashes.SHA256())
    )
    return _pair(made, key)


def facts_of(pem: str) -> CertificateFacts:
    """Read the fields of a certificate; raise Unreadable if it is invalid."""
    found = _certificate(pem)
    try:
        said = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names = tuple(str(each.value) for each in said)
    except x509.ExtensionNotFound:
        names = ()
    return CertificateFacts(
        found.not_valid_before_utc + BACKDATED, found.not_valid_after_utc, names
    )


def signed_by(certificate: str, authority: str) -> bool:
    """Whether the CA has signed the certificate; both PEM."""
    try:
        _certificate(certificate).verify_directly_issued_by(_certificate(authority))
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def belong_together(pair: Pair) -> bool:
    """Whether the key belongs to the certificate."""
    return _certificate(pair.certificate).public_key() == _key(pair.key).public_key()


def split(bundle: str) -> tuple[str, ...]:
    """The certificates of a PEM bundle, one by one."""
    if not bundle.strip():
        return ()
    try:
        found = x509.load_pem_x509_certificates(bundle.encode())
    except ValueError as error:
        raise UnreadableCertificate(f"not PEM certificates: {error}") from error
    return tuple(_pem(each) for each in found)


def _certificate(pem: str) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(pem.encode())
    except ValueError as error:
        raise UnreadableCertificate(f"not a PEM certificate: {error}") from error


def _key(pem: str) -> ec.EllipticCurvePrivateKey:
    try:
        found = serialization.load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError) as error:
        raise UnreadableCertificate(f"not a PEM key: {error}") from error
    if not isinstance(found, ec.EllipticCurvePrivateKey):
        raise UnreadableCertificate("not a key on an elliptic curve")
    return found


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return Pair(_pem(certificate), text.decode())


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _dated(
    builder: x509.CertificateBuilder, now: datetime, lifetime: timedelta
) -> x509.CertificateBuilder:
    return (
        builder.serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + lifetime)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
