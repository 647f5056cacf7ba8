from __future__ import annotations

import base64
import os
import stat
from typing import TYPE_CHECKING

import yaml

from oasis_operator.sidecar.adapter.access import is_written, write_access
from oasis_operator.wire.release import Credential

if TYPE_CHECKING:
    from pathlib import Path

CREDENTIAL = Credential('to"ken: #', "PEM\nüber\n", "shop", "https://kubernetes.default.svc:6443")


def test_the_kubeconfig_says_what_the_files_say(tmp_path: Path) -> None:
    write_access(tmp_path, CREDENTIAL)
    config = yaml.safe_load((tmp_path / "config").read_text())
    (cluster,), (context,), (user,) = config["clusters"], config["contexts"], config["users"]
    assert base64.b64decode(cluster["cluster"]["certificate-authority-data"]).decode() == CREDENTIAL.ca
    assert cluster["cluster"]["server"] == CREDENTIAL.server
    assert context["context"] == {"cluster": cluster["name"], "namespace": "shop", "user": user["name"]}
    assert user["user"]["token"] == CREDENTIAL.token
    assert config["current-context"] == context["name"]


def test_anyone_may_read_and_nobody_write_whatever_the_mask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_access(tmp_path, CREDENTIAL)
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o444}


def test_access_stands_once_the_token_does(tmp_path: Path) -> None:
    assert not is_written(tmp_path)
    (tmp_path / "config").write_text("")
    assert not is_written(tmp_path)
    write_access(tmp_path, CREDENTIAL)
    assert is_written(tmp_path)


def test_a_write_that_was_cut_off_is_done_again(tmp_path: Path) -> None:
    (tmp_path / ".token").write_text("half")
    write_access(tmp_path, CREDENTIAL)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ca.crt", "config", "namespace", "token"]
    assert (tmp_path / "token").read_text() == CREDENTIAL.token
