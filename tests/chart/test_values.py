from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from chart.conftest import CHART, RELEASE, Manifest, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCHEMA = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
TEXT = (CHART / "values.yaml").read_text(encoding="utf-8")
VALUES = yaml.safe_load(TEXT)

REFUSED: dict[str, Manifest] = {
    "an unknown value": {"replicas": 2},
    "a misspelled value": {"images": {"operator": {"tags": "1"}}},
    "a misspelled resource section": {"resources": {"limit": {"cpu": "1"}}},
    "a namespace with capitals": {"watchNamespaces": ["Prod"]},
    "a log level that does not exist": {"logLevel": "TRACE"},
    "no parallelism": {"parallelism": 0},
    "a negative limit of namespaces": {"namespaceParallelism": -1},
    "a timeout with a unit": {"sandbox": {"timeoutsSeconds": {"running": "15m"}}},
    "a stage that does not exist": {"sandbox": {"timeoutsSeconds": {"cleaning": 5}}},
    "a volume of another kind": {"artifacts": {"volume": {"type": "hostPath"}}},
    "a digest without algorithm": {"images": {"operator": {"digest": "abc"}}},
    "a pull policy that does not exist": {"images": {"pullPolicy": "Sometimes"}},
    "a text where a switch belongs": {"crds": {"enabled": "false"}},
    "a quantity of words": {"sandbox": {"resources": {"agent": {"limits": {"memory": "lots"}}}}},
    "no API server port": {"networkPolicy": {"apiServerPorts": []}},
    "an origin with a path": {"models": {"origins": ["https://models.example/v1"]}},
    "an origin without a scheme": {"models": {"origins": ["models.example"]}},
    "a numeric annotation": {"podAnnotations": {"a": 1}},
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_bad_value_is_refused(name: str, helm: Run, values_file: Callable[[Manifest], str]) -> None:
    done = helm("template", *RELEASE, "--values", values_file(REFUSED[name]))
    assert done.returncode != 0
    assert "values don't meet the specifications of the schema" in done.stderr


def test_the_chart_passes_the_strict_linter(helm: Run) -> None:
    done = helm("lint", "--strict", str(CHART))
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_value_has_a_schema_entry_and_every_entry_a_value() -> None:
    assert sorted(_paths(VALUES)) == sorted(path for path in _schema_paths(SCHEMA) if path != "global")


def test_every_entry_of_the_schema_is_described() -> None:
    assert [path for path, node in _entries(SCHEMA) if not node.get("description")] == []


def test_every_value_is_explained_where_it_stands() -> None:
    lines = TEXT.splitlines()
    unexplained = []
    for number, line in enumerate(lines):
        key = line.strip().partition(":")[0]
        if not line.strip() or line.strip().startswith(("#", "-")):
            continue
        if not _is_commented(lines, number) and key not in _PLAIN:
            unexplained.append(f"{number + 1}: {line}")
    assert unexplained == []


# Groups, whose members are explained, and members of well-known objects, which are explained as a whole.
_PLAIN = {
    *("images", "sandbox", "resources", "apiServer", "artifacts", "emptyDir", "persistentVolumeClaim"),
    *("serviceAccount", "rbac", "crds", "networkPolicy", "sandboxGuard", "metrics", "policies"),
    "service",
    *("repository", "tag", "digest", "requests", "limits", "cpu", "memory"),
}


def _is_commented(lines: list[str], number: int) -> bool:
    return number > 0 and lines[number - 1].strip().startswith("#")


def _paths(values: Manifest, prefix: str = "") -> Iterator[str]:
    """Yield the paths of all values; resource lists and free maps are leaves."""
    for key, value in values.items():
        path = f"{prefix}{key}"
        yield path
        if isinstance(value, dict) and not {"requests", "limits"} & value.keys():
            yield from _paths(value, f"{path}.")


def _schema_paths(schema: Manifest) -> Iterator[str]:
    yield from (path for path, _ in _entries(schema))
    yield from (
        f"images.{name}.{key}"
        for name in ("operator", "sidecar", "sandbox")
        for key in ("repository", "tag", "digest")
    )


def _entries(schema: Manifest, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, node in schema.get("properties", {}).items():
        path = f"{prefix}{key}"
        if path.startswith("networkPolicy.metricsFrom."):
            continue
        yield path, node
        yield from _entries(node, f"{path}.")
