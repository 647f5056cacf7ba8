import io
import json
import os
import tarfile
import time
from pathlib import Path

import pytest

from localcluster import archive, binaries, cli, images, network, packages, teardown
from localcluster.errors import ClusterError
from localcluster.processes import Processes, start_ticks

SAVED = """*filter
:INPUT ACCEPT [1:2]
:FORWARD ACCEPT [0:0]
:DOCKER - [0:0]
:KUBE-ROUTER-INPUT - [0:0]
:KUBE-SERVICES - [0:0]
-A INPUT -m comment --comment "kube-router netpol" -j KUBE-ROUTER-INPUT
-A FORWARD -j DOCKER
-A KUBE-ROUTER-INPUT -d 10.0.0.0/8 -j RETURN
COMMIT
"""


def test_the_first_block_is_taken_when_nothing_is_routed_there() -> None:
    chosen = network.choose(["default", "192.0.2.0/24", "127.0.0.1"])
    assert chosen == network.Network("10.213.0.0/24", "10.213.128.0/20", "10.213.255.1", "10.213.128.1")


def test_a_block_that_the_host_routes_elsewhere_is_passed_over() -> None:
    assert network.choose(["10.213.4.0/24"]).pods == "10.187.0.0/24"


def test_no_free_block_is_said_so() -> None:
    with pytest.raises(ClusterError, match="free one of them"):
        network.choose(["10.0.0.0/8", "172.16.0.0/12"])


def test_only_the_cluster_s_chains_and_jumps_to_them_are_removed() -> None:
    assert network.removal(SAVED).splitlines() == [
        ":KUBE-ROUTER-INPUT - [0:0]",
        ":KUBE-SERVICES - [0:0]",
        '-D INPUT -m comment --comment "kube-router netpol" -j KUBE-ROUTER-INPUT',
        "-X KUBE-ROUTER-INPUT",
        "-X KUBE-SERVICES",
    ]


def test_a_table_without_our_chains_is_left_alone() -> None:
    assert network.removal("*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n") == ""


def test_mounts_are_released_from_the_inside_out() -> None:
    mounts = "tmpfs /run/k8s/a tmpfs rw 0 0\nx /run/k8s/a/b/c y rw 0 0\nz /run/k8s-other w rw 0 0\n"
    assert teardown.mounts_below(mounts, (Path("/run/k8s"),)) == ["/run/k8s/a/b/c", "/run/k8s/a"]


def test_a_process_start_is_read_past_a_name_with_brackets_and_spaces() -> None:
    fields = " ".join(str(number) for number in range(4, 30))
    assert start_ticks(f"12 (a ) b) S {fields}") == 22
    assert start_ticks(f"12 (gone) Z {fields}") is None


def test_a_reused_process_id_is_not_taken_for_ours(tmp_path: Path) -> None:
    record = {"pid": os.getpid(), "started": 1, "boot": "another", "argv": ["x"]}
    (tmp_path / "x.json").write_text(json.dumps(record))
    processes = Processes(tmp_path, tmp_path)
    assert not processes.is_running("x")
    assert processes.stop("x") is False
    assert not (tmp_path / "x.json").exists()


def test_a_started_process_is_found_again_and_stopped(tmp_path: Path) -> None:
    Processes(tmp_path / "run", tmp_path / "log").start("sleeper", ["sleep", "30"])
    again = Processes(tmp_path / "run", tmp_path / "log")
    assert again.is_running("sleeper")
    started = time.monotonic()
    assert again.stop("sleeper") is True
    assert time.monotonic() - started < 5
    assert not again.is_running("sleeper")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("require k8s.io/kubernetes v1.34.4\n", "v1.34.4"),
        ("require (\n\tk8s.io/api v0.1.0\n\tk8s.io/kubernetes v1.35.0\n)\n", "v1.35.0"),
        ("replace k8s.io/kubernetes => ../k v9.9.9\n", ""),
    ],
)
def test_a_version_is_read_from_what_go_mod_requires(text: str, expected: str) -> None:
    assert binaries.required_version(text, "k8s.io/kubernetes") == expected


def test_a_module_s_key_follows_its_sources_and_the_go_version(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module x\n")
    first = binaries.module_key(tmp_path, "go1.26.0")
    (tmp_path / "main_test.go").write_text("package main\n")
    assert binaries.module_key(tmp_path, "go1.26.0") == first
    assert binaries.module_key(tmp_path, "go1.26.1") != first
    (tmp_path / "main.go").write_text("package main\n")
    assert binaries.module_key(tmp_path, "go1.26.0") != first


def test_an_archive_of_one_program_names_every_blob_by_its_digest(tmp_path: Path) -> None:
    program = tmp_path / "hello"
    program.write_bytes(b"\x7fELF")
    archive.write_single_program(program, "localhost/hello:1", tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as tar:
        content = {entry.name: (tar.extractfile(entry) or io.BytesIO()).read() for entry in tar}
    index = json.loads(content["index.json"])
    assert index["manifests"][0]["annotations"]["io.containerd.image.name"] == "localhost/hello:1"
    blobs = {name: blob for name, blob in content.items() if name.startswith("blobs/")}
    assert len(blobs) == 3
    assert all(archive.digest(blob) == "sha256:" + name.rpartition("/")[2] for name, blob in blobs.items())


def test_an_image_s_tag_changes_with_its_inputs_only(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    (tmp_path / "app").mkdir()
    (tmp_path / "app/main.py").write_text("")
    image = images.Image("app", "app", "app", ("app",))
    first = images.tag(tmp_path, image, {})
    assert first.startswith("1.2.3-dev.")
    (tmp_path / "other.py").write_text("")
    assert images.tag(tmp_path, image, {}) == first
    (tmp_path / "app/main.py").write_text("x = 1\n")
    assert images.tag(tmp_path, image, {}) != first


def test_a_lacking_package_is_named() -> None:
    assert packages.missing({"shell": "sh", "nothing": "/no/such/file"}) == ["nothing"]


def test_missing_rights_are_one_sentence_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OASIS_CLUSTER", raising=False)
    monkeypatch.setattr("localcluster.foreign.kind_is_usable", lambda: False)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert cli.main(["up"]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("error: a node needs root")
    assert "OASIS_CLUSTER" in printed
