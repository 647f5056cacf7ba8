"""The certificate under which environments are served: one that is given, or one of the operator's own."""

from __future__ import annotations

import asyncio
import base64
import os
import ssl
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509

from oasis_operator import errors
from oasis_operator.clients import pki
from oasis_operator.resources import kinds, manifests, names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.ports.clock import Clock
    from oasis_operator.ports.kube import Kube
    from oasis_operator.settings import Settings

_LIFETIME = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=30)


class ServingCertificate:
    """A TLS context whose certificate is renewed while it is in use; new connections get the new one."""

    def __init__(self, kube: Kube, clock: Clock, settings: Settings) -> None:
        """Take the certificate from the folder that the settings name, or keep an own one in a Secret."""
        if settings.provider_api is None:
            raise errors.InvalidSpec("provider_api: not switched on")
        self._kube, self._clock, self._chosen = kube, clock, settings.provider_api
        self._namespace = settings.namespace
        self._loaded = b""
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2

    async def load(self) -> None:
        """Load what is to be served now; what is loaded already stays.

        Raises:
            InvalidSpec: The files are missing or no certificate with its key.
            Transient: The cluster did not answer.
            NotReady: It refused the Secret.
        """
        folder = self._chosen.certificate_dir
        if folder:
            certificate, key = await asyncio.to_thread(_read_files, Path(folder))
        else:
            certificate, key = await self._own()
        if certificate + key == self._loaded:
            return
        try:
            await asyncio.to_thread(_load, self.context, certificate, key)
        except (ssl.SSLError, OSError) as error:
            where = folder or f"Secret {names.PROVIDER_CERTIFICATE}"
            raise errors.InvalidSpec(
                f"{where}: no certificate with its key: {error}", reason="InvalidSettings"
            ) from error
        self._loaded = certificate + key

    async def _own(self) -> tuple[bytes, bytes]:
        """Return the own certificate, made anew where there is none or its end is near."""
        name, now = names.PROVIDER_CERTIFICATE, self._clock.now()
        found = await self._kube.get(kinds.SECRET, self._namespace, name)
        if found is not None and _is_fit(found["data"], self._chosen.server_names, now):
            return _pair(found["data"])
        if found is not None:
            await self._kube.delete(kinds.SECRET, self._namespace, name, uid=found["metadata"]["uid"])
        parts = await asyncio.to_thread(pki.serving_pair, self._chosen.server_names, now, _LIFETIME)
        data = {
            key: base64.b64encode(value).decode()
            for key, value in zip(("tls.crt", "tls.key", "ca.crt"), parts, strict=True)
        }
        meta = manifests.metadata(name, self._namespace, {})
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "kubernetes.io/tls",
            "metadata": meta,
            "data": data,
        }
        return _pair((await self._kube.create(kinds.SECRET, secret))["data"])


def _read_files(folder: Path) -> tuple[bytes, bytes]:
    try:
        return (folder / "tls.crt").read_bytes(), (folder / "tls.key").read_bytes()
    except OSError as error:
        raise errors.InvalidSpec(
            f"{error.filename}: {error.strerror}; want tls.crt and tls.key in this folder",
            reason="InvalidSettings",
        ) from error


def _pair(data: Mapping[str, str]) -> tuple[bytes, bytes]:
    return base64.b64decode(data["tls.crt"]), base64.b64decode(data["tls.key"])


def _is_fit(data: Mapping[str, str], wanted: tuple[str, ...], now: datetime) -> bool:
    """Tell whether a kept certificate has the names that are wanted, and some time ahead."""
    try:
        certificate = x509.load_pem_x509_certificate(base64.b64decode(data["tls.crt"]))
        named = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (KeyError, ValueError, x509.ExtensionNotFound):
        return False
    served = set(named.get_values_for_type(x509.DNSName))
    return certificate.not_valid_after_utc - now > _RENEW_BEFORE and served == set(wanted)


def _load(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load a pair without a file: the library takes paths only, and the key belongs on no disk."""
    descriptors = [os.memfd_create(name, os.MFD_CLOEXEC) for name in ("certificate", "key")]
    try:
        for descriptor, content in zip(descriptors, (certificate, key), strict=True):
            os.write(descriptor, content)
        context.load_cert_chain(*(f"/proc/self/fd/{descriptor}" for descriptor in descriptors))
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
