"""Writes image archives: of one static program without any build tool, and of layers that a node lacks."""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable
from pathlib import Path

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def write_single_program(program: Path, reference: str, target: Path) -> None:
    """Write an OCI archive whose image holds just `program`, run as its entry point by user 65532.

    Args:
        program: A static executable; it lies in the image's root under its own name.
        reference: The full name that the image gets on import, such as `localhost/pause:1`.
        target: The archive to write; the same inputs give the same bytes.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        _add(tar, program.name, program.read_bytes(), 0o755)
    layer = buffer.getvalue()
    config = _json(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Entrypoint": [f"/{program.name}"], "User": "65532:65532"},
            "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _descriptor("application/vnd.oci.image.config.v1+json", config),
            "layers": [_descriptor("application/vnd.oci.image.layer.v1.tar", layer)],
        }
    )
    write(target, reference, manifest, [layer, config])


def write(target: Path, reference: str, manifest: bytes, blobs: Iterable[bytes | Path]) -> None:
    """Write an OCI archive of one image.

    Args:
        target: The archive to write; the same inputs give the same bytes.
        reference: The full name that the image gets on import.
        manifest: The image's manifest.
        blobs: Its configuration and layers, a file being named by its digest; what the importing store has
        already
            may be left out.
    """
    named = {**_descriptor(_MANIFEST, manifest), "annotations": {"io.containerd.image.name": reference}}
    index = _json({"schemaVersion": 2, "manifests": [named]})
    target.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(target, "w") as tar:
        _add(tar, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        _add(tar, "index.json", index)
        for blob in (manifest, *blobs):
            if isinstance(blob, bytes):
                _add(tar, "blobs/sha256/" + digest(blob).removeprefix("sha256:"), blob)
            else:
                tar.add(blob, f"blobs/sha256/{blob.name}")


def _add(tar: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    """Add one file, owned by root, without a time."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    tar.addfile(entry, io.BytesIO(content))


def _json(document: dict[str, object]) -> bytes:
    return json.dumps(document, sort_keys=True).encode()


def digest(blob: bytes) -> str:
    """The name of a blob in an image store."""
    return "sha256:" + hashlib.sha256(blob).hexdigest()


def _descriptor(media_type: str, blob: bytes) -> dict[str, object]:
    return {"mediaType": media_type, "digest": digest(blob), "size": len(blob)}
