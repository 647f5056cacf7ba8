"""What is signed, what is not, and who can tell."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from unit.cli.fake_cluster import CommandLine, FakeCluster, a_fail, a_pass, a_run, an_evaluation, complete

if TYPE_CHECKING:
    from pathlib import Path

IMAGE = "sha256:" + "a" * 64
DIGESTS = {"image": IMAGE, "subject": "sha256:" + "b" * 64, "profile": "sha256:" + "c" * 64}


def keys(folder: Path, kind: str = "ed25519", name: str = "key") -> tuple[str, str]:
    makers: dict[str, Any] = {
        "ed25519": ed25519.Ed25519PrivateKey.generate,
        "ecdsa": lambda: ec.generate_private_key(ec.SECP256R1()),
        "rsa": lambda: rsa.generate_private_key(65537, 2048),
    }
    key = makers[kind]()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    public.write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    return str(private), str(public)


def signed(tmp_path: Path, status: dict[str, Any], kind: str = "ed25519") -> tuple[int, Path, str]:
    private, public = keys(tmp_path, kind)
    cluster = FakeCluster(an_evaluation(status={**status, "digests": DIGESTS}), a_run(outcome="PASS"))
    target = tmp_path / "verdict.dsse.json"
    done = CommandLine(cluster)("attest", "one", "--key", private, "--to", str(target))
    return done.code, target, public


def verify(file: Path, public: str, image: str = f"agents/helper@{IMAGE}") -> Any:
    return CommandLine(FakeCluster())("verify-attestation", str(file), "--key", public, "--image", image)


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_a_pass_is_signed_about_the_image_and_verified_without_a_cluster(tmp_path: Path, kind: str) -> None:
    code, file, public = signed(tmp_path, a_pass(), kind)
    assert code == 0
    found = verify(file, public)
    assert (found.code, f"PASSED {IMAGE}" in found.out) == (0, True)
    payload = json.loads(base64.b64decode(json.loads(file.read_text())["payload"]))
    assert payload["subject"] == [{"name": payload["subject"][0]["name"], "digest": {"sha256": "a" * 64}}]
    assert len(payload["predicate"]["passedTests"]) == 1
    assert {one["name"].partition("/")[0] for one in payload["predicate"]["configuration"]} == {
        "profile",
        "subject",
    }


def test_a_pass_that_no_gate_may_rely_on_warns_and_a_failure_fails(tmp_path: Path) -> None:
    for status, code in ((complete("PASS", "Vacuous"), 6), (a_fail(), 1)):
        done, file, public = signed(tmp_path, status)
        # A status that contradicts itself is no verdict.
        if done == 0:
            assert verify(file, public).code == code
        else:
            assert (done, status.get("counts")) == (4, None)


def test_a_fault_of_the_harness_is_not_attested(tmp_path: Path) -> None:
    for verdict in ("PROVIDER_FAILURE", None):
        code, file, _ = signed(tmp_path, complete(verdict, "ProviderFault"))
        assert (code, file.exists()) == (4, False)


def test_another_image_another_key_and_a_changed_payload_are_refused(tmp_path: Path) -> None:
    _, file, public = signed(tmp_path, a_pass())
    assert verify(file, public, "sha256:" + "d" * 64).code == 2
    assert verify(file, keys(tmp_path, name="other")[1]).code == 2
    envelope = json.loads(file.read_text())
    payload = base64.b64decode(envelope["payload"]).replace(b"PASSED", b"WARNED")
    file.write_text(json.dumps({**envelope, "payload": base64.b64encode(payload).decode()}))
    assert verify(file, public).code == 2


@pytest.mark.parametrize("text", ["{}", "[]", "x", '{"payload": "!", "payloadType": "a", "signatures": []}'])
def test_what_is_no_envelope_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    assert verify(file, keys(tmp_path)[1]).code == 2


def test_other_kinds_of_keys_are_refused_by_name(tmp_path: Path) -> None:
    code, file, _ = signed(tmp_path, a_pass(), "rsa")
    assert (code, file.exists()) == (2, False)
