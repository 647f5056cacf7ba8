from __future__ import annotations

from dataclasses import replace

import pytest

from kit.serving import CHOSEN, Provider


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def small() -> Provider:
    """One that makes a single environment."""
    return Provider(replace(CHOSEN, environments=1))
