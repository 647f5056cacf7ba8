"""Builds the images that changed, names each by its content and loads it into the cluster.

A tag is `<version>-dev.<digest of the inputs>`: a change rolls out, no change costs nothing, and two builds
of the same sources agree.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from localcluster import archive, baseimage, binaries, command, foreign, node, packages
from localcluster.buildah import Buildah
from localcluster.errors import ClusterError
from localcluster.processes import Processes
from localcluster.settings import CONTEXT_VARIABLE, Paths

# Where the container runtime looks for a name that has no registry in it.
_DEFAULT_REGISTRY = "docker.io/library/"
_WHEEL_INPUTS = ("requirements.lock", "pyproject.toml", "README.md", "LICENSE", "operator", "profiles")


@dataclass(frozen=True, slots=True)
class Image:
    """One target of the Dockerfile: its key in images.json, its repository and the files that decide it.

    Attributes:
        target: Name of the target.
        key: Its key in images.json.
        repository: Its repository.
        inputs: Files and folders that decide it.
        needs_wheel: Whether the project's wheel goes into it.
        programs: Programs of ours that go into it.
        node_packages: Folder with a package-lock.json whose packages go into it; empty for none.
        on_demand: Whether it is built only when it is asked for by name.
    """

    target: str
    key: str
    repository: str
    inputs: tuple[str, ...]
    needs_wheel: bool = False
    programs: tuple[str, ...] = ()
    node_packages: str = ""
    on_demand: bool = False


IMAGES = (
    Image("operator", "operator", "oasis-operator", _WHEEL_INPUTS, needs_wheel=True),
    Image(
        "sidecar",
        "sidecar",
        "oasis-sidecar",
        _WHEEL_INPUTS,
        needs_wheel=True,
        programs=binaries.SIDECAR,
    ),
    Image("databases", "databases", "oasis-databases", _WHEEL_INPUTS, needs_wheel=True),
    Image("sandbox", "sandbox", "oasis-sandbox", (), programs=binaries.SANDBOX),
    Image("reference-agent", "referenceAgent", "reference-agent", ("e2e/agents",)),
    *(
        Image(
            f"agent-{name}",
            f"agent{name.title()}",
            f"agent-{name}",
            (f"e2e/real/{name}",),
            programs=("kubectl",),
            node_packages=node_packages,
            on_demand=True,
        )
        for name, node_packages in (("holmes", ""), ("shell", ""), ("mcp", "e2e/real/mcp"))
    ),
)


def build(paths: Paths, targets: list[str], *, load: bool) -> None:
    """Build what changed, load it, and write `dist/images.json`.

    Args:
        paths: Folders of the checkout and caches.
        targets: Dockerfile targets; empty means all whose sources exist but those on demand.
        load: Also load into the cluster in use.

    Raises:
        ClusterError: An unknown target, missing sources or rights, or a build that failed.
    """
    chosen = _choose(paths, targets)
    programs = binaries.ensure(paths, {name for image in chosen for name in image.programs})
    names = {image: f"{image.repository}:{tag(paths.checkout, image, programs)}" for image in chosen}
    engine = _engine(paths)
    paths.images.mkdir(parents=True, exist_ok=True)
    with command.lock(paths.images / ".lock", "another image build is running; waiting for it"):
        missing = engine.missing(names, load=load)
        if any(image.needs_wheel for image in missing):
            _build_wheel(paths)
        for image in missing:
            _fetch_node_packages(paths, image)
            with command.step(f"building {names[image]}"):
                engine.build(image, names[image], load=load)
    _write_list(paths, {image.key: name for image, name in names.items()})
    for image, name in names.items():
        command.say(f"{name}{'' if image in missing else ' (unchanged)'}")


def _choose(paths: Paths, targets: list[str]) -> list[Image]:
    known = {image.target: image for image in IMAGES}
    unknown = [target for target in targets if target not in known]
    if unknown:
        raise ClusterError(f"no image target {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = []
    for image in [known[target] for target in targets] or [i for i in IMAGES if not i.on_demand]:
        lacking = [name for name in _sources(image) if not (paths.checkout / name).exists()]
        if not lacking:
            chosen.append(image)
        elif targets:
            raise ClusterError(f"image {image.target} needs {', '.join(lacking)}, which this checkout lacks")
        else:
            command.say(f"leaving out image {image.target}: this checkout lacks {', '.join(lacking)}")
    return chosen


def _sources(image: Image) -> tuple[str, ...]:
    """What has to be in the checkout for the image to be built."""
    return (*image.inputs, *(p.module for p in binaries.PROGRAMS if p.name in image.programs))


def tag(checkout: Path, image: Image, programs: dict[str, Path]) -> str:
    """The image's tag: the project's version and a digest over everything that goes into the image."""
    version = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]["version"]
    digest = hashlib.sha256(baseimage.key().encode())
    for file in _files(checkout, ("Dockerfile", *image.inputs)):
        digest.update(f"\n{file.relative_to(checkout)} {file.stat().st_size}\n".encode())
        digest.update(file.read_bytes())
    for name in image.programs:
        digest.update(f"\n{name} {programs[name].parent.name}".encode())
    return f"{version}-dev.{digest.hexdigest()[:12]}"


def _files(checkout: Path, names: Iterable[str]) -> list[Path]:
    """All files under the named files and folders, sorted; byte code is not content."""
    found = []
    for name in names:
        path = checkout / name
        found += [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sorted(p for p in found if "__pycache__" not in p.parts)


def _build_wheel(paths: Paths) -> None:
    """Leave exactly one wheel in `dist`, made by the development environment's tool, else by pip."""
    for old in paths.dist.glob("*.whl"):
        old.unlink()
    pythons = (paths.checkout / ".venv/bin/python", Path(sys.executable))
    with command.step("building the wheel"):
        for python in pythons:
            if python.exists() and command.attempt([python, "-c", "import hatchling"]).returncode == 0:
                command.run(
                    [python, "-m", "hatchling", "build", "-t", "wheel", "-d", paths.dist], cwd=paths.checkout
                )
                return
        command.run(
            [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", paths.dist, paths.checkout]
        )


def _fetch_node_packages(paths: Paths, image: Image) -> None:
    """Put the packages of an image's lock file below `dist/node`, by npm, which knows the user's registry."""
    if not image.node_packages:
        return
    source = paths.checkout / image.node_packages
    folder = paths.dist / "node" / source.name
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(source / name, folder / name)
    if shutil.which("npm") is None:
        raise ClusterError(f"image {image.target} needs npm: install Node.js")
    with command.step(f"fetching the packages of {image.node_packages}"):
        command.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder)


def _write_list(paths: Paths, names: dict[str, str]) -> None:
    """Merge the names into `dist/images.json`, which tells tests and the chart what to run."""
    file = paths.dist / "images.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(file.read_text()) if file.exists() else {}
    unfinished = file.with_name(f".images.{os.getpid()}")
    unfinished.write_text(json.dumps({**known, **names}, indent=2, sort_keys=True) + "\n")
    unfinished.replace(file)


class _Docker:
    """Builds with the running Docker engine and loads into kind, where kind is there."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._kind = foreign.kind_is_usable() and CONTEXT_VARIABLE not in os.environ

    def missing(self, names: dict[Image, str], *, load: bool) -> list[Image]:
        del load
        return [
            i
            for i, name in names.items()
            if command.attempt(["docker", "image", "inspect", name]).returncode != 0
        ]

    def build(self, image: Image, name: str, *, load: bool) -> None:
        command.run(["docker", "build", "--target", image.target, "--tag", name, self._paths.checkout])
        if load and self._kind:
            command.run(["kind", "load", "docker-image", "--name", foreign.KIND_NAME, name])
        elif load:
            command.say(f"{name} is in the Docker engine; push it to where your cluster can pull it")


class _Offline:
    """Builds with buildah and loads into the local node's containerd."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        node.require_root()
        packages.ensure(packages.IMAGES)
        self._buildah = Buildah(paths)
        self._node_runs = Processes(paths.records, paths.logs).is_running("containerd")

    def missing(self, names: dict[Image, str], *, load: bool) -> list[Image]:
        if load and not self._node_runs:
            raise ClusterError(
                "there is no local cluster to load into: bring it up first, or build only with --no-load"
            )
        if not load:
            return [
                image for image, name in names.items() if not self._buildah.has_image(f"localhost/{name}")
            ]
        there = command.run(node.ctr(self._paths, "images", "ls", "-q")).split()
        return [image for image, name in names.items() if f"{_DEFAULT_REGISTRY}{name}" not in there]

    def build(self, image: Image, name: str, *, load: bool) -> None:
        base = baseimage.ensure(self._paths, self._buildah)
        self._buildah.build(image.target, f"localhost/{name}", base)
        if load:
            self._load(f"localhost/{name}", f"{_DEFAULT_REGISTRY}{name}")

    def _load(self, name: str, reference: str) -> None:
        """Give the node just the layers it lacks: a change of source is one megabyte on top of 300."""
        manifest, config = self._buildah.describe(name)
        there = set(command.run(node.ctr(self._paths, "content", "ls", "-q")).split())
        lacking = [
            layer["digest"] for layer in json.loads(manifest)["layers"] if layer["digest"] not in there
        ]
        with tempfile.TemporaryDirectory(dir=self._paths.images, prefix="load-") as text:
            folder = Path(text)
            if lacking:
                self._buildah.write_layers(name, folder / "layers")
            layers = [folder / "layers" / digest.removeprefix("sha256:") for digest in lacking]
            archive.write(folder / "image.tar", reference, manifest, [config, *layers])
            command.run(node.ctr(self._paths, "images", "import", folder / "image.tar"))


def _engine(paths: Paths) -> _Docker | _Offline:
    return _Docker(paths) if foreign.docker_runs() else _Offline(paths)
