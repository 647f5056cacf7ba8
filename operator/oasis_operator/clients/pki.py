"""Keys, certificates and tokens of one run.

Each run has a CA of its own for its two sidecars and another one for the nested cluster, so that nothing
learnt in one run opens another.
"""

from __future__ import annotations

import base64
import ipaddress
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from collections.abc import Sequence

SERVER_NAME = "sidecar"
_SKEW = timedelta(minutes=5)
_TOKEN_BYTES = 32


class RunKeys:
    """Implements `ports.keys.Keys`."""

    def run_secret_data(self, now: datetime, lifetime: timedelta) -> dict[str, str]:
        """Return the `data` of a run's Secret."""
        return run_secret_data(now, lifetime)


def run_secret_data(now: datetime, lifetime: timedelta) -> dict[str, str]:
    """Return the `data` of a run's Secret, base64-encoded, with fresh keys and tokens.

    Args:
        now: The current time.
        lifetime: How long the certificates are valid; longer than the run can last.
    """
    ca_key, ca = _authority("ca", now, lifetime)
    cluster_key, cluster_ca = _authority("kubernetes", now, lifetime)
    content: dict[str, bytes] = {
        "ca.crt": _pem(ca),
        "cluster-ca.crt": _pem(cluster_ca),
        "cluster-ca.key": _key_pem(cluster_key),
    }
    for sidecar in ("probe", "adapter"):
        key, certificate = _server(ca_key, ca, (SERVER_NAME,), now, lifetime)
        content[f"{sidecar}.crt"] = _pem(certificate)
        content[f"{sidecar}.key"] = _key_pem(key)
        content[f"{sidecar}-token"] = secrets.token_urlsafe(_TOKEN_BYTES).encode()
    return {name: base64.b64encode(value).decode() for name, value in content.items()}


def serving_pair(names: Sequence[str], now: datetime, lifetime: timedelta) -> tuple[bytes, bytes, bytes]:
    """Return the certificate of a server of our own, its key, and the authority that signed it, each in PEM.

    Names are those of hosts, or addresses.

    The authority's key is kept nowhere: a new certificate has a new authority.
    """
    ca_key, ca = _authority("provider", now, lifetime)
    key, certificate = _server(ca_key, ca, names, now, lifetime)
    return _pem(certificate), _key_pem(key), _pem(ca)


def _authority(
    name: str, now: datetime, lifetime: timedelta
) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    """Return a self-signed CA."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        _builder(subject, subject, key.public_key(), now, lifetime)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return key, certificate


def _server(
    ca_key: ec.EllipticCurvePrivateKey,
    ca: x509.Certificate,
    names: Sequence[str],
    now: datetime,
    lifetime: timedelta,
) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    """Return a serving certificate for `names`, signed by the CA."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    certificate = (
        _builder(subject, ca.subject, key.public_key(), now, lifetime)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_alternative(name) for name in names]), critical=False)
        .add_extension(issuer, critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    return key, certificate


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, lifetime: timedelta
) -> x509.CertificateBuilder:
    """Return what every certificate has."""
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + lifetime)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    """Return the key usage of a CA (it signs) or of a server."""
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
