"""What the documents say of the command line and of dependencies is what is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from click import Group

from oasis_operator.cli import exit_codes, main

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text()
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])


def test_the_readme_has_every_exit_code_with_its_meaning() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| (.+) \|$", README, re.MULTILINE))
    assert rows == {str(code.value): meaning for code, meaning in exit_codes.MEANINGS.items()}


def test_the_readme_names_only_commands_and_options_that_exist() -> None:
    assert isinstance(main.cli, Group)
    calls = re.findall(r"^    oasis ([a-z]+)([^#\n]*)", README, re.MULTILINE)
    assert len(calls) >= 7
    for name, rest in calls:
        known = {option for parameter in main.cli.commands[name].params for option in parameter.opts}
        assert set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest)) <= known, name


def test_make_demo_and_make_test_are_the_only_set_up_commands() -> None:
    assert re.findall(r"^    (make [a-z-]+)$", README, re.MULTILINE) == ["make demo", "make test"]
    rules = re.findall(r"^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"demo", "test", "check", "test-unit", "e2e", "bench", "help"} <= set(rules)


def test_every_dependency_has_its_line_and_every_line_its_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[<>=~!\[]", requirement)[0] for requirement in project["dependencies"]}
    page = (ROOT / "docs/dependencies.md").read_text()
    assert set(re.findall(r"^\| ([a-z0-9-]+) \|", page, re.MULTILINE)) - {"package"} == declared


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", sorted((ROOT / "docs/adr").glob("*.md")), ids=lambda page: page.name)
def test_a_decision_has_its_four_parts(page: Path) -> None:
    text = page.read_text()
    assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", page.name) or page.name == "README.md"
    if page.name != "README.md":
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [
            "Context",
            "Options",
            "Decision",
            "Consequences",
        ]
        assert f"]({page.name})" in (page.parent / "README.md").read_text()
