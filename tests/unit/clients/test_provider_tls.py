from __future__ import annotations

import base64
import ssl
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509

from kit.fakes.clock import FakeClock
from kit.fakes.kube import FakeKube
from kit.serving import CHOSEN, SETTINGS
from oasis_operator.clients import token_review
from oasis_operator.clients.pki import serving_pair
from oasis_operator.clients.provider_tls import ServingCertificate
from oasis_operator.errors import InvalidSpec
from oasis_operator.ports.tokens import Caller
from oasis_operator.resources import kinds, names

if TYPE_CHECKING:
    from datetime import timedelta
    from pathlib import Path

NAMES = ("oasis-provider", "oasis-provider.oasis-system.svc")


def a_certificate(kube: FakeKube, clock: FakeClock, **changes: Any) -> ServingCertificate:
    chosen = replace(CHOSEN, server_names=NAMES, **changes)
    return ServingCertificate(kube, clock, replace(SETTINGS, provider_api=chosen))


def kept(kube: FakeKube) -> dict[str, bytes]:
    data = kube.one(kinds.SECRET, SETTINGS.namespace, names.PROVIDER_CERTIFICATE)["data"]
    return {key: base64.b64decode(value) for key, value in data.items()}


async def test_an_own_certificate_is_made_once_and_verifies_against_its_authority_by_each_name() -> None:
    kube, clock = FakeKube(), FakeClock()
    await a_certificate(kube, clock).load()
    data = kept(kube)
    await a_certificate(kube, clock).load()
    assert kept(kube) == data
    certificate = x509.load_pem_x509_certificate(data["tls.crt"])
    authority = x509.load_pem_x509_certificate(data["ca.crt"])
    certificate.verify_directly_issued_by(authority)
    named = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert tuple(named.get_values_for_type(x509.DNSName)) == NAMES
    assert [call.verb for call in kube.writes] == ["create"]


@pytest.mark.parametrize("why", ["its end is near", "its names are others", "it is damaged"])
async def test_a_certificate_that_does_not_fit_any_more_is_replaced_while_it_is_in_use(why: str) -> None:
    kube, clock = FakeKube(), FakeClock()
    used = a_certificate(kube, clock)
    await used.load()
    before = kept(kube)
    match why:
        case "its end is near":
            clock.advance(340 * 24 * 3600)
        case "its names are others":
            used = a_certificate(kube, clock)
            object.__setattr__(used._chosen, "server_names", ("other",))
        case _:
            kube.edit(kinds.SECRET, SETTINGS.namespace, names.PROVIDER_CERTIFICATE,
                      lambda item: item["data"].update({"tls.crt": ""}))  # fmt: skip
    context = used.context
    await used.load()
    assert kept(kube)["tls.crt"] not in ("", before["tls.crt"])
    assert used.context is context


async def test_a_given_certificate_is_read_again_as_it_is_renewed_and_needs_no_secret(tmp_path: Path) -> None:
    kube, clock = FakeKube(), FakeClock()
    used = a_certificate(kube, clock, certificate_dir=str(tmp_path))
    with pytest.raises(InvalidSpec, match=r"tls\.crt"):
        await used.load()
    _write(tmp_path, clock)
    await used.load()
    first = used._loaded
    _write(tmp_path, clock)
    await used.load()
    assert used._loaded != first
    (tmp_path / "tls.key").write_bytes(b"no key")
    with pytest.raises(InvalidSpec, match="no certificate with its key"):
        await used.load()
    assert kube.calls == []
    assert used.context.minimum_version >= ssl.TLSVersion.TLSv1_2


def _write(folder: Path, clock: FakeClock) -> None:
    lifetime: timedelta = FakeClock().now() - FakeClock().now().replace(month=1, day=1, year=2025)
    certificate, key, _ = serving_pair(NAMES, clock.now(), lifetime)
    (folder / "tls.crt").write_bytes(certificate)
    (folder / "tls.key").write_bytes(key)


class Cluster:
    """Answers token reviews."""

    def __init__(self, status: dict[str, Any]) -> None:
        self.status = status
        self.asked: dict[str, Any] = {}

    async def post(self, target: str, body: dict[str, Any], what: str) -> dict[str, Any]:
        self.asked = {"target": target, **body["spec"]}
        return {"status": self.status}


USER = {"username": "alice", "groups": ["dev"]}


@pytest.mark.parametrize(
    ("status", "caller"),
    [
        ({"authenticated": True, "audiences": ["oasis"], "user": USER}, Caller("alice", ("dev",))),
        ({"authenticated": True, "user": USER}, None),
        ({"authenticated": True, "audiences": ["other"], "user": USER}, None),
        ({"authenticated": False, "audiences": ["oasis"], "user": USER}, None),
        ({"authenticated": True, "audiences": ["oasis"], "user": {}}, None),
        ({}, None),
    ],
    ids=["its own", "of no audience", "of another", "of nobody", "without a name", "no answer"],
)
async def test_a_token_counts_only_for_its_audience(status: dict[str, Any], caller: Caller | None) -> None:
    cluster = Cluster(status)
    found = await token_review.TokenReviews(cluster).review("t", "oasis")  # type: ignore[arg-type]
    assert found == caller
    assert cluster.asked == {
        "target": "/apis/authentication.k8s.io/v1/tokenreviews",
        "token": "t",
        "audiences": ["oasis"],
    }
