from __future__ import annotations

from pathlib import Path

import pytest
from tools import gen_crds, gen_docs

from oasis_operator.api import conditions

ROOT = Path(__file__).resolve().parents[3]


def test_the_committed_definitions_are_those_of_the_models() -> None:
    assert gen_crds.find_stale(ROOT) == ()


def test_the_committed_reference_pages_are_those_of_the_models() -> None:
    assert gen_docs.find_stale(ROOT) == ()


@pytest.mark.parametrize("member", [*conditions.Type, *conditions.Reason])
def test_every_condition_type_and_reason_is_explained(member: conditions.Reason) -> None:
    assert gen_docs.describe_member(member).endswith(".")


@pytest.mark.parametrize("generator", [gen_crds, gen_docs])
def test_missing_changed_and_leftover_files_are_named(generator: object, tmp_path: Path) -> None:
    generator.write_all(tmp_path)  # type: ignore[attr-defined]
    assert generator.find_stale(tmp_path) == ()  # type: ignore[attr-defined]
    paths = sorted(generator.render_all())  # type: ignore[attr-defined]
    (tmp_path / paths[0]).unlink()
    (tmp_path / paths[1]).write_text("changed")
    leftover = (tmp_path / paths[1]).with_stem("leftover")
    leftover.write_text("")
    stale = generator.find_stale(tmp_path)  # type: ignore[attr-defined]
    assert sorted(stale) == sorted(
        [str(paths[0]), str(paths[1]), f"{leftover.relative_to(tmp_path)} (left over)"]
    )
