from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "operator/oasis_operator"
PURE = (
    "errors.py",
    "settings.py",
    "model",
    "api",
    "wire",
    "profile",
    "engine",
    "harness",
    "domains",
    "world",
    "resources",
)
# The linter sees whole packages only, and these have a harmless sibling.
IMPURE_SUBMODULES = {"urllib.request", "urllib.error", "http.client", "http.server", "concurrent.futures"}
IMPURE_CALLS = {"now", "today", "utcnow", "open", "input", "print", "eval", "exec", "uuid1", "uuid4"}


def _pure_files() -> list[Path]:
    places = [PACKAGE / name for name in PURE]
    return sorted(file for place in places for file in ([place] if place.is_file() else place.rglob("*.py")))


def _imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return names


def _called(tree: ast.Module) -> set[str]:
    """Return the names of what is called outright: `open()`, `datetime.now()`, but not `store.open()`."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                names.add(node.func.id)
            elif isinstance(node.func, ast.Attribute) and _tail(node.func.value) in (
                "datetime",
                "date",
                "uuid",
            ):
                names.add(node.func.attr)
    return names


def _tail(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize("file", _pure_files(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_what_decides_touches_no_clock_file_or_network(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert _imported(tree) & IMPURE_SUBMODULES == set()
    assert _called(tree) & IMPURE_CALLS == set()


def _inner_files() -> list[Path]:
    return sorted(
        file for name in ("handlers", "reconcile", "ports") for file in (PACKAGE / name).rglob("*.py")
    )


@pytest.mark.parametrize("file", _inner_files(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_what_reconciles_talks_to_the_outside_through_ports(file: Path) -> None:
    assert _imported(ast.parse(file.read_text(encoding="utf-8"))) & IMPURE_SUBMODULES == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import urllib.request", {"urllib.request"}),
        ("from urllib import request", {"urllib.request"}),
        ("from http.client import HTTPConnection", {"http.client"}),
        ("from urllib.parse import quote", set()),
    ],
)
def test_impure_imports_are_recognised(source: str, found: set[str]) -> None:
    assert _imported(ast.parse(source)) & IMPURE_SUBMODULES == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import datetime\ndatetime.datetime.now()", {"now"}),
        ("from datetime import date\ndate.today()", {"today"}),
        ("open('x')", {"open"}),
        ("clock.now()", set()),
        ("store.open()", set()),
    ],
)
def test_impure_calls_are_recognised(source: str, found: set[str]) -> None:
    assert _called(ast.parse(source)) & IMPURE_CALLS == found


@pytest.mark.timeout(120)
def test_the_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout
