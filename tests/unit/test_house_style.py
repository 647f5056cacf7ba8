from __future__ import annotations

import ast
import importlib.util
import operator
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "operator/oasis_operator"
SOURCES = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "tools").glob("*.py")])
FILE_LINES = 400
# Tables and behaviours are long by nature and branch little.
TABLES = ("domains/",)
TABLE_LINES = 500
FUNCTION_LINES = 50
HANDLER_LINES = 15
VAGUE_NAMES = {"utils", "util", "helpers", "common", "misc", "manager", "base"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(source: str) -> Iterator[Function]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _body_lines(function: Function) -> int:
    """Return the lines of the body, its docstring left out."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if not body:
        return 0
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def _is_handler(function: Function) -> bool:
    """Tell whether a kopf decorator stands above the function."""
    return any("kopf" in ast.unparse(decorator) for decorator in function.decorator_list)


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _line_limit(path: Path) -> int:
    return TABLE_LINES if any(part in path.as_posix() for part in TABLES) else FILE_LINES


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_files_functions_and_handlers_are_short(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= _line_limit(path)
    for function in _functions(source):
        limit = HANDLER_LINES if _is_handler(function) else FUNCTION_LINES
        assert _body_lines(function) <= limit, function.name


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_names_say_something(path: Path) -> None:
    assert path.stem not in VAGUE_NAMES
    assert path.parent.name not in VAGUE_NAMES


def test_the_source_root_is_no_package() -> None:
    assert not (ROOT / "operator/__init__.py").exists()
    assert operator.__file__ is not None
    assert Path(operator.__file__).parent == Path(sysconfig.get_path("stdlib"))
    spec = importlib.util.find_spec("operator")
    assert spec is not None
    assert spec.origin == operator.__file__


SAMPLE = '''
@kopf.on.event("pods")
async def handler(**_):
    """Docstring.

    More of it.
    """
    first()

    second()


def plain():
    return 1


def documented():
    """Only this."""
'''


def test_lengths_are_counted_without_the_docstring() -> None:
    lengths = {
        function.name: (_body_lines(function), _is_handler(function)) for function in _functions(SAMPLE)
    }
    assert lengths == {"handler": (3, True), "plain": (1, False), "documented": (0, False)}
