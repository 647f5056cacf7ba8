from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_spec = importlib.util.spec_from_file_location("world_nested", Path(__file__).with_name("nested.py"))
assert _spec is not None
assert _spec.loader is not None
nested = importlib.util.module_from_spec(_spec)
sys.modules["world_nested"] = nested
_spec.loader.exec_module(nested)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: Any) -> Any:
    """The binaries of a nested cluster in one folder, with the seed of its data."""
    target = tmp_path_factory.mktemp("programs")
    missing = nested.find_programs(target)
    if not nested.build_launcher(target):
        missing.append("go, to build the launcher")
    if missing:
        reason = f"not built: {', '.join(missing)}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    nested.make_seed(target)
    return target


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder with a short path: that of a unix socket below it may have 107 characters and no more."""
    with tempfile.TemporaryDirectory(prefix="w") as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def _open_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments listen on a port that anybody may have, whoever runs the tests."""
    from oasis_operator.resources import network_policy

    monkeypatch.setattr(network_policy, "API_PORT", 6443)


@pytest.fixture
def world(programs: Any, tmp_path: Path) -> Any:
    """A blank environment; each test gets its own, since one can be prepared only once."""
    cluster = nested.Nested(tmp_path, programs)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop_processes()


@pytest.fixture
def published() -> Any:
    """The published scenarios, by id."""
    import yaml

    shared = Path(os.environ.get("OASIS_SHARED", nested.ROOT.parent / "shared"))
    folder = shared / "upstream/oasis-spec/profiles/software-infrastructure/scenarios"
    if not folder.is_dir():
        pytest.skip(f"the published profile is not at {folder}")
    found = {}
    for path in sorted(folder.glob("*/*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            if document:
                found[document["id"]] = document
    return found
