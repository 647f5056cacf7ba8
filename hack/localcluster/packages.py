"""Installs the Debian packages that the node and the image builds need, and says which."""

import shutil
from pathlib import Path

from localcluster import command
from localcluster.errors import ClusterError

# Package, and a file or command that shows it is there.
NODE = {
    "containerd": "containerd",
    "runc": "runc",
    "containernetworking-plugins": "/usr/lib/cni/bridge",
    "iproute2": "ip",
    "iptables": "iptables",
    "ipset": "ipset",
    "conntrack": "conntrack",
    "mount": "mount",
    "openssl": "openssl",
}
IMAGES = {"buildah": "buildah", "debootstrap": "debootstrap"}

# A plain user's command path lacks the administrators' folders.
_SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def ensure(wanted: dict[str, str]) -> None:
    """Install what lacks.

    Raises:
        ClusterError: Something lacks and this is no Debian system, or the installation failed.
    """
    lacking = missing(wanted)
    if not lacking:
        return
    if shutil.which("apt-get") is None:
        raise ClusterError(
            f"{', '.join(lacking)} must be installed first: there is no apt-get here to do it. "
            "Or use a cluster of your own: OASIS_CLUSTER=<kube context>"
        )
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    with command.step(f"installing Debian packages: {', '.join(lacking)}"):
        command.run(["apt-get", "update", "-qq"], env=quiet)
        command.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *lacking], env=quiet)


def missing(wanted: dict[str, str]) -> list[str]:
    """The packages whose witness is not found, sorted."""
    return sorted(package for package, witness in wanted.items() if not _is_present(witness))


def _is_present(witness: str) -> bool:
    if witness.startswith("/"):
        return Path(witness).exists()
    return shutil.which(witness, path=_SEARCH_PATH) is not None
