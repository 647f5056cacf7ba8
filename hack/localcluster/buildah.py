"""Builds images without an engine: buildah with its own storage, running build steps in a plain chroot."""

import json
from pathlib import Path

from localcluster import command
from localcluster.errors import ClusterError
from localcluster.settings import Paths

RUN_FOLDER = "/run/k8s-images"
_CERTIFICATES = Path("/etc/ssl/certs")


class Buildah:
    """buildah with the storage in the cache folder."""

    def __init__(self, paths: Paths) -> None:
        """Choose the storage driver: overlay where the kernel has it, else slow plain copies."""
        filesystems = Path("/proc/filesystems").read_text().split()
        driver = "overlay" if "overlay" in filesystems else "vfs"
        storage = paths.images / f"storage-{driver}"
        storage.mkdir(parents=True, exist_ok=True)
        self._checkout = paths.checkout
        self._argv = [
            "buildah",
            "--root",
            str(storage),
            "--runroot",
            RUN_FOLDER,
            "--storage-driver",
            driver,
        ]

    def run(self, *arguments: str) -> str:
        """Run one buildah command and return what it printed."""
        return command.run([*self._argv, *arguments])

    def has_image(self, name: str) -> bool:
        """Whether the storage has an image of this name."""
        return command.attempt([*self._argv, "inspect", "--type", "image", name]).returncode == 0

    def build(self, target: str, name: str, base: str) -> None:
        """Build one target of the Dockerfile.

        The machine's certificates are shown to the build steps, so that a package index behind a company's
        own authority is trusted there too; they do not become part of the image.
        """
        certificates = ["--volume", f"{_CERTIFICATES}:{_CERTIFICATES}:ro"] if _CERTIFICATES.is_dir() else []
        try:
            self.run(
                *("bud", "--isolation", "chroot", "--layers", "--format", "oci"),
                *certificates,
                *("--build-arg", f"BASE_IMAGE={base}", "--target", target, "--tag", name),
                *(
                    "--file",
                    f"{self._checkout}/Dockerfile",
                    "--ignorefile",
                    f"{self._checkout}/.dockerignore",
                ),
                str(self._checkout),
            )
        except ClusterError:
            # A failed step leaves its container, and with it a mount.
            self.run("rm", "--all")
            raise

    def describe(self, name: str) -> tuple[bytes, bytes]:
        """The manifest and the configuration of an image; the layers it names are uncompressed."""
        image = json.loads(self.run("inspect", "--type", "image", name))
        return str(image["Manifest"]).encode(), str(image["Config"]).encode()

    def write_layers(self, name: str, folder: Path) -> None:
        """Write all layers of an image, uncompressed, into a folder, each named by its digest."""
        self.run("push", "--quiet", "--disable-compression", name, f"dir:{folder}")
