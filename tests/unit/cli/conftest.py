from __future__ import annotations

import pytest

from unit.cli.fake_cluster import CommandLine, FakeCluster


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster()


@pytest.fixture
def oasis(cluster: FakeCluster) -> CommandLine:
    return CommandLine(cluster)
