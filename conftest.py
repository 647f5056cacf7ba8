"""What holds for every test: in continuous integration a skipped one has failed, and chance is tamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from kit import surroundings

if TYPE_CHECKING:
    from collections.abc import Generator

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

# A slow machine is no fault of the code. In CI the same examples are tried each time; elsewhere new ones are.
settings.register_profile(
    "oasis",
    max_examples=surroundings.examples(100),
    deadline=None,
    derandomize=surroundings.IN_CI and not surroundings.IS_LONG,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("oasis")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests of the published specification need it."""
    if item.get_closest_marker("upstream") is not None and not surroundings.SPECIFICATION.is_dir():
        pytest.skip(f"the published specification is not at {surroundings.SPECIFICATION}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped test into a failed one where nothing may be left out."""
    return _strict((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a module that is skipped as a whole."""
    return _strict((yield))


def _strict(report: Report) -> Report:
    if surroundings.IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"must not be skipped in continuous integration: {reason}"
    return report
