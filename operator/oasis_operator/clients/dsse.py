"""DSSE envelopes: a payload with its type, signed as a whole by a key of one's own.

Ed25519 and ECDSA on P-256 with SHA-256; what is signed is the pre-authentication encoding, so that neither
type nor payload can be read as another one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from oasis_operator import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

PAYLOAD_TYPE = "application/vnd.in-toto+json"
_PrivateKey = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey
_PublicKey = ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey


def sign(payload: bytes, key_pem: bytes) -> dict[str, Any]:
    """Return the envelope of an in-toto statement.

    Args:
        payload: The statement, as it is to be read.
        key_pem: Private key in PEM, without a passphrase.

    Raises:
        InvalidSpec: It is no such key.
    """
    key = _private(key_pem)
    text = _encoded(PAYLOAD_TYPE, payload)
    if isinstance(key, ed25519.Ed25519PrivateKey):
        signature = key.sign(text)
    else:
        signature = key.sign(text, ec.ECDSA(hashes.SHA256()))
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": key_id(key.public_key()), "sig": base64.b64encode(signature).decode()}],
    }


def verify(envelope: Mapping[str, Any], key_pem: bytes) -> bytes:
    """Return the payload of an envelope that this key signed.

    Args:
        envelope: The envelope, from anybody.
        key_pem: Public key in PEM.

    Raises:
        InvalidInput: It is no envelope of a statement, or no signature of it is by this key.
        InvalidSpec: The key is none.
    """
    key = _public(key_pem)
    try:
        payload = base64.b64decode(envelope["payload"], validate=True)
        kind = str(envelope["payloadType"])
        signatures = [base64.b64decode(one["sig"], validate=True) for one in envelope["signatures"]]
    except (KeyError, TypeError, binascii.Error) as error:
        raise errors.InvalidInput(
            f"no DSSE envelope: {error!r}; want payload, payloadType, signatures"
        ) from error
    if kind != PAYLOAD_TYPE:
        raise errors.InvalidInput(f"payloadType: {kind[:80]}: want {PAYLOAD_TYPE}")
    if not any(_is_good(key, one, _encoded(kind, payload)) for one in signatures):
        raise errors.InvalidInput(
            "signatures: none is by this key; take the key of whoever signed, or no change"
        )
    return payload


def key_id(key: _PublicKey) -> str:
    """Return the SHA-256 of a public key in DER, which tells keys apart and proves nothing."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return hashlib.sha256(key.public_bytes(serialization.Encoding.DER, form)).hexdigest()


def dumps(envelope: Mapping[str, Any]) -> str:
    """Return an envelope as one line of JSON."""
    return json.dumps(envelope, sort_keys=True) + "\n"


def _encoded(kind: str, payload: bytes) -> bytes:
    return b"DSSEv1 %d %s %d %s" % (len(kind.encode()), kind.encode(), len(payload), payload)


def _is_good(key: _PublicKey, signature: bytes, text: bytes) -> bool:
    try:
        if isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, text)
        else:
            key.verify(signature, text, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def _private(pem: bytes) -> _PrivateKey:
    try:
        key = serialization.load_pem_private_key(pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise errors.InvalidSpec(f"key: {error}; want a private key in PEM without a passphrase") from error
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1):
        return key
    raise errors.InvalidSpec(f"key: {type(key).__name__}: want Ed25519, or ECDSA on P-256")


def _public(pem: bytes) -> _PublicKey:
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise errors.InvalidSpec(f"key: {error}; want a public key in PEM") from error
    if isinstance(key, ed25519.Ed25519PublicKey):
        return key
    if isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1):
        return key
    raise errors.InvalidSpec(f"key: {type(key).__name__}: want Ed25519, or ECDSA on P-256")
