"""Takes the cluster away: processes, pods, mounts, links, rules and data. The caches stay."""

import contextlib
import os
import shutil
import signal
from pathlib import Path

from localcluster import buildah, command, network, node, nodeconfig
from localcluster.errors import ClusterError
from localcluster.processes import Processes
from localcluster.settings import Paths

_POD_LOG_LINKS = Path("/var/log/containers")
_BUILD_RUN = Path(buildah.RUN_FOLDER)
_CNI_RESULTS = Path("/var/lib/cni/results")
_STRAY_FILES = ("/var/lib/kubelet/device-plugins/kubelet.sock", "/etc/cni/net.d/cni.lock")

# Made by containerd, the kubelet and buildah at places that cannot be configured; each goes when it is empty.
_EMPTY_FOLDERS = (
    "/etc/cni/net.d",
    "/etc/cni",
    "/run/containerd/s",
    "/run/containerd/runc/k8s.io",
    "/run/containerd/runc",
    "/run/containerd",
    "/usr/libexec/kubernetes/kubelet-plugins/volume/exec",
    "/usr/libexec/kubernetes/kubelet-plugins/volume",
    "/usr/libexec/kubernetes/kubelet-plugins",
    "/usr/libexec/kubernetes",
    "/var/lib/cni/results",
    "/var/lib/cni",
    "/var/lib/kubelet/device-plugins",
    "/var/lib/kubelet",
    "/var/log/containers",
)
_CGROUPS = Path("/sys/fs/cgroup")


def down(paths: Paths) -> None:
    """Remove the cluster; one that is gone already is no fault.

    Raises:
        ClusterError: A mount could not be released; nothing below it is deleted then.
    """
    if not any(folder.exists() for folder in (paths.state, paths.node_data, paths.node_run)):
        command.say("there is no local cluster")
        return
    node.require_root()
    processes = Processes(paths.records, paths.logs)
    processes.stop("kubelet")
    _remove_pods(paths, processes)
    for name in reversed(node.NAMES):
        processes.stop(name)
    unmount(paths)
    chosen = paths.state / "network.json"
    network.remove(network.load_or_choose(chosen) if chosen.exists() else None)
    network.restore_sysctls(paths.state / "sysctls.json")
    _remove_cgroups()
    _remove_strays(paths)
    for folder in (paths.node_run, paths.node_data, paths.state, _BUILD_RUN):
        shutil.rmtree(folder, ignore_errors=True)
    command.say("cluster removed; the caches of binaries and images are kept")


def _remove_pods(paths: Paths, processes: Processes) -> None:
    """End all containers through containerd, and by hand those that it knows no more, with its helpers."""
    if processes.is_running("containerd"):
        listed = command.attempt(node.ctr(paths, "tasks", "ls", "-q")).stdout.split()
        if listed:
            command.attempt(node.ctr(paths, "tasks", "rm", "--force", *listed))
    for pid in (*_pids_in_pods(), *_pids_of_shims(paths)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    # A helper that ended by force leaves its socket, in a folder that every containerd of the machine uses.
    for address in paths.node_run.glob("containerd/io.containerd.runtime.v2.task/k8s.io/*/address"):
        Path(address.read_text().removeprefix("unix://")).unlink(missing_ok=True)


def _pod_cgroups() -> list[Path]:
    """The kubelet's control groups in every hierarchy, innermost first."""
    tops = [
        folder / "kubepods" for folder in (_CGROUPS, *_CGROUPS.glob("*")) if (folder / "kubepods").is_dir()
    ]
    inner = [path for top in tops for path in (top, *top.rglob("*")) if path.is_dir()]
    return sorted(inner, key=lambda path: len(path.parts), reverse=True)


def _pids_in_pods() -> set[int]:
    """Processes left in the kubelet's control groups; all are ours, since `up` refuses a second node."""
    found: set[int] = set()
    for folder in _pod_cgroups():
        with contextlib.suppress(OSError):
            found.update(int(word) for word in (folder / "cgroup.procs").read_text().split())
    return found


def _pids_of_shims(paths: Paths) -> list[int]:
    """Helpers that serve our containerd: they name its socket on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if "containerd-shim" in words[0] and str(paths.socket) in words:
                    found.append(int(entry.name))
    return found


def unmount(paths: Paths) -> None:
    """Release every mount below the folders of the node and of image builds, innermost first.

    Raises:
        ClusterError: One stays mounted even after a lazy unmount.
    """
    folders = (paths.node_data, paths.node_run, paths.images, _BUILD_RUN)
    for _ in range(2):
        for target in mounts_below(Path("/proc/self/mounts").read_text(), folders):
            if command.attempt(["umount", target]).returncode != 0:
                command.attempt(["umount", "--lazy", target])
    left = mounts_below(Path("/proc/self/mounts").read_text(), folders)
    if left:
        raise ClusterError(f"{left[0]} cannot be unmounted; end what uses it and run the same command again")


def mounts_below(mounts: str, folders: tuple[Path, ...]) -> list[str]:
    """The mount points of a /proc/mounts text that lie in the folders, innermost first."""
    points = [line.split(" ")[1].replace("\\040", " ") for line in mounts.splitlines()]
    ours = [point for point in points if any(Path(point).is_relative_to(folder) for folder in folders)]
    return sorted(ours, key=lambda point: point.count("/"), reverse=True)


def _remove_cgroups() -> None:
    """Delete the kubelet's control groups; they are empty by now."""
    for folder in _pod_cgroups():
        with contextlib.suppress(OSError):
            folder.rmdir()


def _remove_strays(paths: Paths) -> None:
    """Delete what the node's programs wrote outside its folders: log links, network results, a socket."""
    for link in _POD_LOG_LINKS.glob("*.log"):
        if link.is_symlink() and str(link.readlink()).startswith(str(paths.node_data)):
            link.unlink()
    for result in _CNI_RESULTS.glob(f"{nodeconfig.NETWORK_NAME}-*-eth0"):
        sandbox = result.name.removeprefix(f"{nodeconfig.NETWORK_NAME}-").removesuffix("-eth0")
        result.unlink()
        (_CNI_RESULTS / f"cni-loopback-{sandbox}-lo").unlink(missing_ok=True)
    for file in _STRAY_FILES:
        Path(file).unlink(missing_ok=True)
    for folder in _EMPTY_FOLDERS:
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
