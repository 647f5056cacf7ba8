"""Builds the programs of the cluster and of the sandbox image from pinned Go modules, once per set of pins.

Each module has a folder in the cache whose name is a digest of everything that decides the result: pins,
sources, flags and the Go version. A program is built beside its place and renamed, so a folder never holds
half a program, and a lock keeps two builders apart.
"""

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from localcluster import command
from localcluster.errors import ClusterError
from localcluster.settings import Paths

KUBERNETES = "k8s.io/kubernetes"
_FLAGS_EDITION = "1"
_VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


@dataclass(frozen=True, slots=True)
class Program:
    """One main package; `module` is the folder of its go.mod, relative to the checkout."""

    name: str
    module: str
    package: str
    version_of: str = ""


_CLUSTER = "hack/binaries/kubernetes"

PROGRAMS = (
    Program("etcd", _CLUSTER, "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3"),
    *(
        Program(name, _CLUSTER, f"{KUBERNETES}/cmd/{name}", KUBERNETES)
        for name in (
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
            "kubelet",
            "kube-proxy",
            "kubectl",
        )
    ),
    Program(
        "kube-router",
        _CLUSTER,
        "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router",
        "github.com/cloudnativelabs/kube-router/v2",
    ),
    Program("kwok", "hack/binaries/kwok", "sigs.k8s.io/kwok/cmd/kwok", "sigs.k8s.io/kwok"),
    Program("pause", "hack/support", "./pause"),
    Program("netcheck", "hack/support", "./netcheck"),
    Program("launcher", "sandbox/launcher", "."),
    Program("prometheus", "sandbox/prometheus", "."),
    Program("entry", "sandbox/entry", "."),
    Program("helm", "hack/binaries/helm", "helm.sh/helm/v4/cmd/helm", "helm.sh/helm/v4"),
    Program(
        "kubeconform",
        "hack/binaries/kubeconform",
        "github.com/yannh/kubeconform/cmd/kubeconform",
        "github.com/yannh/kubeconform",
    ),
)

SIDECAR = ("entry",)
SANDBOX = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    "prometheus",
    "launcher",
)
NODE = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "kubectl",
    "kube-router",
    "pause",
    "netcheck",
)
_LINKED = (*SANDBOX, *SIDECAR, "kubectl", "helm", "kubeconform")


def ensure(paths: Paths, names: Iterable[str] | None = None) -> dict[str, Path]:
    """Build what is missing and return the place of each program.

    Args:
        paths: Where the modules and the cache are.
        names: The programs wanted; None means all. The launcher is left out while its folder does not exist.

    Raises:
        ClusterError: Go is absent or a build failed.
    """
    wanted = set(names) if names is not None else {program.name for program in PROGRAMS}
    chosen = [p for p in PROGRAMS if p.name in wanted and (paths.checkout / p.module / "go.mod").is_file()]
    places = _places(paths, chosen)
    missing = [program for program in chosen if not places[program.name].exists()]
    if missing:
        with command.lock(paths.binaries / ".lock", "another build is running; waiting for it"):
            for number, program in enumerate(missing, start=1):
                if not places[program.name].exists():
                    _build(paths, program, places[program.name], f"[{number}/{len(missing)}]")
    for name in wanted.intersection(_LINKED, places):
        _link(places[name], paths.dist / "bin" / name)
    return places


def _places(paths: Paths, programs: Iterable[Program]) -> dict[str, Path]:
    """Where each program lies, or will lie, in the cache."""
    go_version = command.run(["go", "env", "GOVERSION"]).strip()
    keys: dict[str, str] = {}
    for program in programs:
        if program.module not in keys:
            keys[program.module] = module_key(paths.checkout / program.module, go_version)
    folder = {module: f"{Path(module).name}-{key}" for module, key in keys.items()}
    return {p.name: paths.binaries / folder[p.module] / p.name for p in programs}


def module_key(folder: Path, go_version: str) -> str:
    """A short digest over what decides a module's builds: its files, the flags and Go's version."""
    digest = hashlib.sha256(f"{_FLAGS_EDITION} {go_version}".encode())
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith("_test.go"):
            digest.update(f"\n{path.relative_to(folder)} {path.stat().st_size}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def required_version(go_mod: str, module: str) -> str:
    """The version that a go.mod text requires of a module; empty when it does not name it."""
    found = re.search(rf"^(?:require )?\s*{re.escape(module)} (v\S+)", go_mod, re.MULTILINE)
    return found.group(1) if found else ""


def _build(paths: Paths, program: Program, place: Path, progress: str) -> None:
    """Build one program beside its place, then put it there in one rename."""
    folder = paths.checkout / program.module
    version = required_version((folder / "go.mod").read_text(), program.version_of)
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = place.with_name(f".{program.name}.{os.getpid()}")
    command.say(f"{progress} {program.name} {version}: building ...")
    started = time.monotonic()
    ldflags = " ".join(["-s -w", *_version_flags(folder, program, version)])
    try:
        command.run(
            [
                "go",
                "build",
                "-trimpath",
                "-buildvcs=false",
                "-ldflags",
                ldflags,
                "-o",
                unfinished,
                program.package,
            ],
            env={"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"},
            cwd=folder,
        )
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)
    seconds = time.monotonic() - started
    command.say(f"{progress} {program.name} {version}: building ... done in {seconds:.0f} s")


def _version_flags(folder: Path, program: Program, version: str) -> list[str]:
    """Linker flags that make a program report its version as a released one does.

    Without them a Kubernetes component calls itself v0.0.0-master+$Format:%H$, which breaks version checks
    and tells whoever asks the API server that it is a private build. A module does not tell its commit: a
    digest of its content, cut to a commit's length, stands in, so the value still names the exact source.
    """
    if not version:
        return []
    if program.name == "kube-router":
        return [f"-X {program.version_of}/pkg/version.Version={version}"]
    if program.name == "kwok":
        return [f"-X {program.version_of}/pkg/consts.Version={version}"]
    if program.name == "helm":
        return [f"-X {program.version_of}/internal/version.version={version}"]
    if program.version_of != KUBERNETES:
        return []
    major, minor, _ = version.removeprefix("v").split(".", 2)
    info = json.loads(command.run(["go", "list", "-m", "-json", KUBERNETES], cwd=folder))
    values = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitCommit": hashlib.sha256(str(info["Sum"]).encode()).hexdigest()[:40],
        "gitTreeState": "clean",
        "buildDate": info["Time"],
    }
    return [f"-X {package}.{key}={value}" for package in _VERSION_PACKAGES for key, value in values.items()]


def _link(source: Path, target: Path) -> None:
    """Make `target` the same file as `source`, or a copy where the cache is on another file system."""
    if not source.exists():
        raise ClusterError(f"{source.name} was not built")
    if target.exists() and (target.samefile(source) or _same_content(source, target)):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        os.link(source, unfinished)
    except OSError:
        shutil.copy2(source, unfinished)
    unfinished.replace(target)


def _same_content(source: Path, target: Path) -> bool:
    """Whether a copy made earlier is still up to date, by size and time: copies keep both."""
    ours, theirs = source.stat(), target.stat()
    return ours.st_size == theirs.st_size and ours.st_mtime == theirs.st_mtime
