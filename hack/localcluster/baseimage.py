"""Makes a Debian base image with Python from packages alone, once, for machines that can pull no image."""

import hashlib
import shutil
import tempfile
from pathlib import Path

from localcluster import command
from localcluster.buildah import Buildah
from localcluster.settings import Paths

_SUITE = "bookworm"
_PACKAGES = ("ca-certificates", "python3", "python3-venv")

# Half of the folder that debootstrap leaves: caches and documentation, which nothing reads in a container.
_UNUSED = (
    "var/cache/apt/archives",
    "var/lib/apt/lists",
    "var/log",
    "var/cache/debconf",
    "usr/share/doc",
    "usr/share/info",
    "usr/share/locale",
    "usr/share/man",
)


def key() -> str:
    """A short digest over what decides the base image; Debian's own updates are not seen by it."""
    return hashlib.sha256(repr((_SUITE, _PACKAGES, _UNUSED)).encode()).hexdigest()[:12]


def reference() -> str:
    """The name of the base image in the build storage."""
    return f"localhost/debian-python:{key()}"


def ensure(paths: Paths, buildah: Buildah) -> str:
    """Return the name of the base image, after making it where it lacks."""
    name = reference()
    if buildah.has_image(name):
        return name
    with tempfile.TemporaryDirectory(dir=paths.images, prefix="base-") as folder:
        root = Path(folder) / "root"
        with command.step(
            f"making the base image from Debian packages ({', '.join(_PACKAGES)}), about a minute"
        ):
            command.run(
                ["debootstrap", "--variant=minbase", f"--include={','.join(_PACKAGES)}", _SUITE, root]
            )
            for part in _UNUSED:
                _empty(root / part)
            container = buildah.run("from", "scratch").strip()
            buildah.run("add", "--quiet", container, str(root), "/")
            buildah.run("commit", "--quiet", "--rm", container, name)
    return name


def _empty(folder: Path) -> None:
    """Delete a folder's content but keep the folder, which programs may expect."""
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
