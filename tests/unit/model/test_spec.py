from __future__ import annotations

import pytest

from oasis_operator.model import spec


@pytest.mark.parametrize(
    ("version", "dependency", "expected"),
    [
        ("1.0.0-rc1.5", ">=1.0.0-rc1.5", True),
        ("1.0.0-rc1.5", "≥ 1.0.0-rc1", True),
        ("1.0.0-rc1", ">=1.0.0-rc1.5", False),
        ("1.0.0-rc1.10", ">=1.0.0-rc1.5", True),
        ("1.0.0", ">=1.0.0-rc1.5", True),
        ("1.1.0", ">=1.0.0, <1.1.0", False),
        ("1.0.9", ">=1.0.0 <1.1.0", True),
        ("1.0.0", "1.0.0", True),
        ("1.0.1", "1.0.0", False),
        ("1.0.1", "= 1.0.1", True),
    ],
)
def test_a_range_is_compared_by_precedence(version: str, dependency: str, expected: bool) -> None:
    assert spec.satisfies(version, dependency) is expected


@pytest.mark.parametrize("text", ["", "newest", ">=1.0", "~1.0.0", ">=1.0.0 or so"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not"):
        spec.normalise_dependency(text)


def test_this_version_is_a_version() -> None:
    assert spec.is_version(spec.SPEC_VERSION)
    assert not spec.is_version("1.0")
