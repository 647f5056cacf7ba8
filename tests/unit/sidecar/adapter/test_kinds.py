from __future__ import annotations

import subprocess
import sys

import pytest

from oasis_operator.errors import InvalidInput
from oasis_operator.resources.subject import ADAPTERS
from oasis_operator.sidecar.adapter.kinds import KINDS, _load, find_kind


def test_each_adapter_of_an_agent_has_its_kind() -> None:
    # One that takes alerts is an http agent like any other in the Agent.
    assert set(KINDS) - {"webhook"} == set(ADAPTERS)
    assert all(hasattr(_load(name), "run") for name in KINDS)


def test_an_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"adapter\.kind"):
        find_kind({"kind": "telepathy"})


def test_no_kind_is_loaded_before_it_is_asked_for() -> None:
    code = "import sys, oasis_operator.sidecar.adapter.main; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.rpartition(".")[2] for name in told.stdout.split() if "sidecar.adapter" in name}
    assert not loaded & {module for module, _, _ in KINDS.values()}
    assert "loop" not in loaded
