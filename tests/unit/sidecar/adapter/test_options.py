from __future__ import annotations

from pathlib import Path

import pytest

from oasis_operator.sidecar.adapter.options import Options


def test_an_empty_environment_gives_the_contract_s_defaults() -> None:
    options = Options.from_environment({})
    assert options == Options()
    assert (options.port, options.tls_dir, options.access_dir) == (
        8443,
        Path("/etc/sidecar"),
        Path("/run/access"),
    )


def test_each_option_has_its_variable() -> None:
    changed = {
        "HOST": "::",
        "PORT": "1",
        "TLS_DIR": "/t",
        "ACCESS_DIR": "/a",
        "CONNECT_SECONDS": "2.5",
        "CONFIRM_SECONDS": "3",
        "SETTLE_SECONDS": "4",
        "LISTEN_SECONDS": "5",
        "IDENTITY_SECONDS": "6",
        "LINGER_SECONDS": "7",
        "LOCAL_PEERS": "allow",
        "TASK_DIR": "/w",
        "ENTRY_DIR": "/e",
        "ENTRY_PROGRAM": "/p",
        "MODEL_PORT": "8",
    }
    assert Options.from_environment({f"SIDECAR_{k}": v for k, v in changed.items()}) == Options(
        "::",
        1,
        Path("/t"),
        Path("/a"),
        2.5,
        3.0,
        4.0,
        5.0,
        6.0,
        7.0,
        True,
        Path("/w"),
        Path("/e"),
        Path("/p"),
        8,
    )


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="x"):
        Options.from_environment({"SIDECAR_PORT": "x"})
