from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from oasis_operator import errors
from oasis_operator.cli import follow
from oasis_operator.cli.exit_codes import ExitCode
from unit.cli import fake_cluster as fake

if TYPE_CHECKING:
    from unit.cli.fake_cluster import CommandLine, FakeCluster


def test_wait_follows_an_evaluation_to_its_verdict_and_says_what_goes_on(
    cluster: FakeCluster, oasis: CommandLine
) -> None:
    later = [fake.running("1/6"), fake.running("1/6"), fake.running("5/6"), fake.a_pass()]
    cluster.put(fake.an_evaluation())
    cluster.before_read = lambda c: c.put(fake.an_evaluation(status=later.pop(0))) if later else None
    answer = oasis("wait", "one")
    assert answer.code is ExitCode.PASS
    assert answer.out.startswith("Verdict   PASS (SafetyPassed)")
    assert [line.split("] ")[1] for line in answer.err.splitlines()] == [
        "one: 1/6, 2 running (Progressing)",
        "one: 5/6, 2 running (Progressing)",
        "one: PASS",
    ]


def test_wait_ends_with_its_own_code_when_the_time_is_over(cluster: FakeCluster, oasis: CommandLine) -> None:
    cluster.put(fake.an_evaluation(status=fake.running()))
    answer = oasis("wait", "one", "--timeout", "90s")
    assert answer.code is ExitCode.TIMEOUT
    assert "not complete after 90 s" in answer.err
    assert answer.out.startswith("Verdict   not complete")
    assert "Next      oasis wait one -n team" in answer.out
    assert oasis.clock.now == pytest.approx(90, abs=2)


def test_a_timeout_before_anything_was_decided_is_no_pass(cluster: FakeCluster, oasis: CommandLine) -> None:
    cluster.put(fake.an_evaluation())
    assert oasis("wait", "one", "--timeout", "1s").code is ExitCode.TIMEOUT


def test_a_stalled_evaluation_ends_the_wait_after_a_moment(cluster: FakeCluster, oasis: CommandLine) -> None:
    cluster.put(fake.an_evaluation(status=fake.stalled("InvalidProfile", "SCN021 no such behaviour")))
    answer = oasis("wait", "one")
    assert answer.code is ExitCode.NO_VERDICT
    assert follow.STALL_GRACE_SECONDS <= oasis.clock.now < 2 * follow.STALL_GRACE_SECONDS
    assert "SCN021" in answer.out
    assert "Next      oasis validate PROFILE_FOLDER" in answer.out


def test_an_evaluation_that_is_stalled_for_a_moment_only_goes_on(
    cluster: FakeCluster, oasis: CommandLine
) -> None:
    later = [fake.stalled("NotFound", "no agent yet")] * 3 + [fake.running()] * 5 + [fake.a_fail()]
    cluster.put(fake.an_evaluation())
    cluster.before_read = lambda c: c.put(fake.an_evaluation(status=later.pop(0))) if later else None
    assert oasis("wait", "one").code is ExitCode.FAIL


def test_an_evaluation_that_does_not_exist_is_no_verdict_of_any_kind(oasis: CommandLine) -> None:
    assert oasis("wait", "nobody").code is ExitCode.UNREACHABLE


def test_a_short_outage_of_the_cluster_is_waited_out(cluster: FakeCluster, oasis: CommandLine) -> None:
    cluster.put(fake.an_evaluation(status=fake.a_pass()))
    cluster.before_read = outage(oasis, until=30)
    answer = oasis("wait", "one")
    assert answer.code is ExitCode.PASS
    assert "no answer from the cluster" in answer.err


def test_a_long_outage_of_the_cluster_is_an_error_and_no_verdict(
    cluster: FakeCluster, oasis: CommandLine
) -> None:
    cluster.put(fake.an_evaluation(status=fake.a_pass()))
    cluster.before_read = outage(oasis, until=10_000)
    assert oasis("wait", "one").code is ExitCode.UNREACHABLE


def outage(oasis: CommandLine, until: float) -> Any:
    def read(_: FakeCluster) -> None:
        if oasis.clock.now < until:
            raise errors.Transient("connection refused", reason="Network")

    return read


def test_several_evaluations_are_waited_for_together(cluster: FakeCluster, oasis: CommandLine) -> None:
    cluster.put(fake.an_evaluation("good", status=fake.a_pass()))
    cluster.put(fake.an_evaluation("bad", status=fake.a_fail()))
    answer = oasis("wait", "good", "bad", "-o", "json")
    assert answer.code is ExitCode.FAIL
    assert [screen["verdict"] for screen in json.loads(answer.out)] == ["PASS", "FAIL"]


def test_a_pass_that_cannot_gate_says_so_with_gate_only(cluster: FakeCluster, oasis: CommandLine) -> None:
    cluster.put(fake.an_evaluation(status=fake.a_vacuous_pass()))
    assert oasis("wait", "one").code is ExitCode.PASS
    answer = oasis("wait", "one", "--gate")
    assert answer.code is ExitCode.NOT_GATEABLE
    assert "a gate may not rely on it" in answer.err


@pytest.mark.parametrize("text", ["forever", "5", "1h30", "-1s"])
def test_a_malformed_duration_is_a_wrong_use(oasis: CommandLine, text: str) -> None:
    assert oasis("wait", "one", f"--timeout={text}").code is ExitCode.USAGE


def test_global_options_stand_before_or_after_the_command(cluster: FakeCluster, oasis: CommandLine) -> None:
    body = fake.an_evaluation(status=fake.a_pass())
    body["metadata"]["namespace"] = "other"
    cluster.put(body)
    assert oasis("-n", "other", "wait", "one").code is ExitCode.PASS
    assert oasis("wait", "one", "-n", "other").code is ExitCode.PASS
    assert oasis("wait", "one").code is ExitCode.UNREACHABLE
