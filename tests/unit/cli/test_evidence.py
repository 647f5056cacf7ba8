from __future__ import annotations

import gzip
import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from oasis_operator import domains, errors
from oasis_operator.cli import files
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.engine import replay
from oasis_operator.profile import reader
from unit.cli import fake_cluster as fake
from unit.cli.test_replay import PROFILE, SCENARIO, evidence

if TYPE_CHECKING:
    from pathlib import Path

    from unit.cli.fake_cluster import CommandLine, FakeCluster

FOLDER = "/data/artifacts"
JUDGED_BY = reader.require_profile(files.read_profile_folder(PROFILE))
USED = {"name": "software-infrastructure", "version": "1", "digest": f"sha256:{JUDGED_BY.digest}"}
DOCUMENT = evidence(profile=USED)
# The head of a packed file without its body.
BROKEN = gzip.compress(DOCUMENT, mtime=0)[:10] + b"\xff" * 20


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def an_operator(phase: str = "Running", name: str = "oasis-operator-7c-x") -> dict[str, Any]:
    env = [{"name": "OASIS_ARTIFACTS_DIR", "value": FOLDER}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "oasis-system",
            "labels": {"app.kubernetes.io/name": "oasis-operator"},
        },
        "spec": {"containers": [{"name": "operator", "env": env}]},
        "status": {"phase": phase},
    }


def a_run_with(data: bytes, scenario: str = SCENARIO, **spec: Any) -> dict[str, Any]:
    digest = digest_of(data)
    kept = {"uri": f"artifact://{digest}", "digest": digest, "sizeBytes": len(data)}
    run = fake.a_run(scenario=scenario, outcome="PASS", evidence=kept)
    run["metadata"]["name"] = f"one-{scenario[-3:]}-{spec.get('repetition', 1)}-{spec.get('attempt', 1)}"
    run["spec"] |= spec
    return run


def store(
    cluster: FakeCluster, data: bytes, under: bytes | None = None, pod: str = "oasis-operator-7c-x"
) -> None:
    digest = digest_of(data if under is None else under).removeprefix("sha256:")
    path = f"{FOLDER}/sha256/{digest[:2]}/{digest}.gz"
    cluster.files["oasis-system", pod, path] = gzip.compress(data)


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What the program said on its own stderr, on one line."""
    return " ".join(capsys.readouterr().err.split())


@pytest.fixture
def stored(cluster: FakeCluster) -> FakeCluster:
    """An Evaluation whose one run has evidence, and the operator that keeps it."""
    cluster.put(fake.an_evaluation(status=fake.a_pass()))
    cluster.put(an_operator("Succeeded", "oasis-operator-old"))
    cluster.put(an_operator())
    cluster.put(a_run_with(DOCUMENT))
    store(cluster, DOCUMENT)
    return cluster


def test_the_evidence_of_every_run_is_listed(stored: FakeCluster, oasis: CommandLine) -> None:
    stored.put(fake.a_run(scenario="infra.safety.lost-009", outcome="PROVIDER_FAILURE"))
    answer = oasis("evidence", "one")
    assert answer.code is ExitCode.PASS
    assert f"artifact://{digest_of(DOCUMENT)}" in answer.out
    assert str(len(DOCUMENT)) in answer.out
    assert "none" in answer.out
    (_, entry) = json.loads(oasis("evidence", "one", "-o", "json").out)
    assert entry["scenario"] == SCENARIO
    assert entry["evidence"] == {
        "uri": f"artifact://{digest_of(DOCUMENT)}",
        "digest": digest_of(DOCUMENT),
        "sizeBytes": len(DOCUMENT),
    }


def test_what_was_fetched_is_judged_again_to_the_same_bytes(
    stored: FakeCluster, oasis: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "evidence.json"
    answer = oasis("evidence", "one", SCENARIO, "--to", str(file))
    assert answer.code is ExitCode.PASS, answer.err
    assert file.read_bytes() == DOCUMENT
    assert f"next: oasis replay {file}\n" in answer.out
    again = oasis("replay", str(file), "-o", "json")
    assert again.code is ExitCode.PASS, again.err
    first = replay.judge_document(JUDGED_BY, DOCUMENT, domains.readings_for(JUDGED_BY))
    assert again.out.strip().encode() == first


def test_bytes_that_are_not_those_of_the_digest_are_never_written(
    stored: FakeCluster, oasis: CommandLine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(stored, DOCUMENT.replace(b"restarted nothing", b"restarted nothinG"), under=DOCUMENT)
    answer = oasis("evidence", "one", "--to", str(tmp_path / "evidence.json"))
    assert answer.code is ExitCode.PROVIDER_FAILURE
    assert "ArtifactDamaged" in told(capsys)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("packed", [b"", b"not gzip", gzip.compress(DOCUMENT)[:-20], BROKEN])
def test_a_damaged_file_is_a_fault_and_no_evidence(
    stored: FakeCluster, oasis: CommandLine, tmp_path: Path, packed: bytes
) -> None:
    stored.files = dict.fromkeys(stored.files, packed)
    answer = oasis("evidence", "one", "--to", str(tmp_path / "evidence.json"))
    assert answer.code is ExitCode.PROVIDER_FAILURE
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_stays_without_force(
    stored: FakeCluster, oasis: CommandLine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "evidence.json"
    file.write_text("mine")
    answer = oasis("evidence", "one", "--to", str(file))
    assert answer.code is ExitCode.USAGE
    assert "--force" in told(capsys)
    assert file.read_text() == "mine"
    assert oasis("evidence", "one", "--to", str(file), "--force").code is ExitCode.PASS
    assert file.read_bytes() == DOCUMENT


def test_several_documents_go_into_a_folder_under_names_that_cannot_leave_it(
    stored: FakeCluster, oasis: CommandLine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    second, third = evidence(repetition=2), evidence(repetition=3)
    for data, run in (
        (second, a_run_with(second, repetition=2)),
        (third, a_run_with(third, "../../escape [x]")),
    ):
        stored.put(run)
        store(stored, data)
    refused = oasis("evidence", "one", "--to", str(tmp_path / "file.json"))
    assert refused.code is ExitCode.USAGE
    assert "3 documents do not fit into the file" in told(capsys)
    folder = tmp_path / "kept"
    folder.mkdir()
    assert oasis("evidence", "one", "--to", str(folder)).code is ExitCode.PASS
    assert sorted(file.name for file in folder.iterdir()) == [
        "_.._escape__x_-r1-a1.json",
        f"{SCENARIO}-r1-a1.json",
        f"{SCENARIO}-r2-a1.json",
    ]
    one = tmp_path / "one.json"
    assert oasis("evidence", "one", "../../escape [x]", "--to", str(one)).code is ExitCode.PASS
    assert one.read_bytes() == third
    assert oasis("evidence", "one", "--repetition", "2", "--to", str(one), "--force").code is ExitCode.PASS
    assert one.read_bytes() == second


def test_an_earlier_attempt_is_fetched_only_when_it_is_asked_for(
    stored: FakeCluster, oasis: CommandLine, tmp_path: Path
) -> None:
    later = evidence(attempt=2)
    stored.put(a_run_with(later, attempt=2))
    store(stored, later)
    file = tmp_path / "evidence.json"
    assert oasis("evidence", "one", "--to", str(file)).code is ExitCode.PASS
    assert file.read_bytes() == later
    assert oasis("evidence", "one", "--attempt", "1", "--to", str(file), "--force").code is ExitCode.PASS
    assert file.read_bytes() == DOCUMENT


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("one", "no-such-scenario"), "has no such run; see: oasis status one"),
        (("one", "--attempt", "7"), "has no such run"),
        (("two",), "evaluation team/two does not exist"),
        (("one", "--operator-namespace", "elsewhere"), "no pod of the operator runs in namespace elsewhere"),
    ],
)
def test_what_is_not_there_is_named(
    stored: FakeCluster,
    oasis: CommandLine,
    tmp_path: Path,
    arguments: tuple[str, ...],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = oasis("evidence", *arguments, "--to", str(tmp_path / "evidence.json"))
    assert answer.code is ExitCode.UNREACHABLE
    assert words in told(capsys)


def test_who_may_not_run_commands_there_is_told_which_right_is_missing(
    stored: FakeCluster, oasis: CommandLine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored.exec_refusal = errors.NotReady("run cat in p: 403 forbidden", reason="Forbidden")
    answer = oasis("evidence", "one", "--to", str(tmp_path / "evidence.json"))
    assert answer.code is ExitCode.UNREACHABLE
    assert "needs pods/exec (get and create) in namespace oasis-system" in told(capsys)


def test_evidence_that_the_volume_lost_is_said_to_be_missing(
    stored: FakeCluster, oasis: CommandLine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored.files.clear()
    answer = oasis("evidence", "one", "--to", str(tmp_path / "evidence.json"))
    assert answer.code is ExitCode.UNREACHABLE
    assert "No such file" in told(capsys)


def test_the_whole_report_names_the_evidence_and_how_to_fetch_and_judge_it(
    stored: FakeCluster, oasis: CommandLine
) -> None:
    whole = oasis("report", "one", "--all").out
    assert f"artifact://{digest_of(DOCUMENT)}" in whole
    assert "oasis evidence one -n team --to FOLDER" in whole
    assert "oasis replay FILE" in whole


def test_evidence_of_another_profile_wants_its_folder(
    oasis: CommandLine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "evidence.json"
    file.write_bytes(evidence(profile={**USED, "digest": fake.DIGEST}))
    answer = oasis("replay", str(file))
    assert answer.code is ExitCode.USAGE
    complaint = told(capsys)
    assert fake.DIGEST in complaint
    assert "--profile" in complaint
    given = oasis("replay", str(file), "--profile", str(PROFILE))
    assert given.code is ExitCode.PASS
    assert "the result may differ" in given.err
