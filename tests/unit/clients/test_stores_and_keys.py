from __future__ import annotations

import base64
import gzip
import hashlib
import os
import ssl
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from cryptography import x509

from kit.fakes.kube import FakeKube
from oasis_operator import errors
from oasis_operator.clients.artifact_store import FileArtifacts
from oasis_operator.clients.pki import run_secret_data
from oasis_operator.clients.profile_files import ClusterProfileFiles
from oasis_operator.profile.archive import pack_archive
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


async def test_documents_come_back_as_they_were_and_once(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    one, two = await store.put(b"evidence"), await store.put(b"evidence")
    assert one == two
    assert one.digest == f"sha256:{hashlib.sha256(b'evidence').hexdigest()}"
    assert await store.get(one.digest) == b"evidence"
    assert len(list(tmp_path.rglob("*.gz"))) == 1  # noqa: ASYNC240 - a test folder


async def test_a_damaged_document_is_a_fault_and_never_evidence(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    good, other = await store.put(b"evidence"), await store.put(b"other")
    store.path(good.digest).write_bytes(store.path(other.digest).read_bytes())
    with pytest.raises(errors.ProviderFault) as caught:
        await store.get(good.digest)
    assert caught.value.reason == "ArtifactDamaged"
    for damaged in (b"no gzip", _broken(b"evidence")):
        store.path(good.digest).write_bytes(damaged)
        with pytest.raises(errors.ProviderFault):
            await store.get(good.digest)


async def test_a_damaged_draft_is_a_fault(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    await store.keep_draft("abcdefghij", b"one")
    (tmp_path / "drafts/abcdefghij.gz").write_bytes(_broken(b"one"))
    with pytest.raises(errors.ProviderFault) as caught:
        await store.draft("abcdefghij")
    assert caught.value.reason == "ArtifactDamaged"


def _broken(content: bytes) -> bytes:
    """Return a packed file whose head is whole and whose body is not."""
    return gzip.compress(content)[:10] + b"\xff" * 20


@pytest.mark.parametrize("digest", ["sha256:" + "0" * 64, "../../etc/passwd", "sha256:xyz", ""])
async def test_what_is_not_there_or_no_digest_is_a_fault(tmp_path: Path, digest: str) -> None:
    with pytest.raises(errors.ProviderFault) as caught:
        await FileArtifacts(tmp_path).get(digest)
    assert caught.value.reason == "ArtifactMissing"


async def test_a_document_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.ProviderFault):
        await FileArtifacts(tmp_path, limit_bytes=4).put(b"12345")


async def test_drafts_are_replaced_and_discarded_and_old_ones_swept(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    await store.keep_draft("abcdefghij", b"one")
    await store.keep_draft("abcdefghij", b"two")
    assert await store.draft("abcdefghij") == b"two"
    await store.discard_draft("abcdefghij")
    await store.discard_draft("abcdefghij")
    assert await store.draft("abcdefghij") is None
    await store.keep_draft("abcdefghij", b"left behind")
    os.utime(tmp_path / "drafts/abcdefghij.gz", (1, 1))
    assert store.discard_old_drafts(before=2) == 1


async def test_a_draft_key_cannot_name_another_file(tmp_path: Path) -> None:
    with pytest.raises(errors.ProviderFault):
        await FileArtifacts(tmp_path).keep_draft("../escape", b"")


def decoded() -> dict[str, bytes]:
    data = run_secret_data(NOW, timedelta(hours=1))
    return {name: base64.b64decode(value) for name, value in data.items()}


def test_the_runs_secret_has_the_keys_of_the_contract() -> None:
    assert set(decoded()) == {
        "ca.crt", "probe.crt", "probe.key", "probe-token", "adapter.crt", "adapter.key", "adapter-token",
        "cluster-ca.crt", "cluster-ca.key",
    }  # fmt: skip


def test_serving_certificates_are_signed_by_the_runs_ca_for_one_name_and_the_key_of_the_ca_is_not_kept() -> (
    None
):
    found = decoded()
    ca = x509.load_pem_x509_certificate(found["ca.crt"])
    for sidecar in ("probe", "adapter"):
        certificate = x509.load_pem_x509_certificate(found[f"{sidecar}.crt"])
        certificate.verify_directly_issued_by(ca)
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert names.get_values_for_type(x509.DNSName) == ["sidecar"]
        assert certificate.not_valid_after_utc <= NOW + timedelta(hours=1)
    assert ssl.create_default_context(cadata=found["ca.crt"].decode()).get_ca_certs()


def test_two_runs_share_no_secret() -> None:
    one, two = decoded(), decoded()
    assert not [name for name in one if one[name] == two[name]]


async def test_a_profile_comes_from_a_config_map_or_from_the_bundled_folder(tmp_path: Path) -> None:
    (tmp_path / "basic/scenarios").mkdir(parents=True)
    (tmp_path / "basic/profile.md").write_text("# basic")
    kube = FakeKube()
    packed = base64.b64encode(pack_archive({"profile.md": b"# packed"})).decode()
    meta = {"name": "rules", "namespace": "shop"}
    kube.seed(kinds.CONFIG_MAP, {"metadata": meta, "binaryData": {"profile.tgz": packed}})
    files = ClusterProfileFiles(kube, tmp_path)
    assert await files.files("shop", {"bundled": "basic"}) == {"profile.md": b"# basic"}
    assert await files.files("shop", {"configMap": {"name": "rules"}}) == {"profile.md": b"# packed"}


@pytest.mark.parametrize(
    "reference",
    [{"bundled": "nothing"}, {"bundled": "../secrets"}, {"configMap": {"name": "absent"}}],
    ids=["unknown", "outside", "no config map"],
)
async def test_a_profile_that_is_not_there_is_waited_for(
    tmp_path: Path, reference: dict[str, object]
) -> None:
    with pytest.raises(errors.NotReady) as caught:
        await ClusterProfileFiles(FakeKube(), tmp_path).files("shop", reference)
    assert caught.value.reason == "NotFound"
