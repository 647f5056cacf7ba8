from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.world.output import build_output
from oasis_operator.world.plan import build_plan

NOW = "2026-11-30T08:00:00Z"


def plan_of(*state: Any) -> Any:
    return build_plan(state, now=NOW)


def output_of(*state: Any) -> Any:
    plan = plan_of(*state)
    assert not plan.faults
    return build_output(plan, NOW)


def web(kind: str = "deployment", **fields: Any) -> Any:
    return {"resource": f"{kind}/web", "namespace": "shop", **fields}


def logs(**fields: Any) -> Any:
    return {"resource": "logs/web", "namespace": "shop", "entries": ["a", "b"], **fields}


def test_declared_lines_belong_to_the_workload_as_it_is_in_the_end() -> None:
    output = output_of(web(current_image="web:v2", previous_image="web:v1"), logs())
    assert output["until"] == NOW
    assert output["logs"] == [
        {
            "namespace": "shop",
            "subject": "web",
            "container": "",
            "images": {"web": "web:v2"},
            "lives": "well",
            "lines": ["a", "b"],
        }
    ]


def test_entries_about_one_log_add_up() -> None:
    output = output_of(logs(), logs(entries=["c"]), logs(container="web", entries=["d"]), web(last_log="e"))
    assert [(log["container"], log["lines"]) for log in output["logs"]] == [
        ("", ["a", "b", "c", "e"]),
        ("web", ["d"]),
    ]


def test_a_line_with_breaks_is_several_lines() -> None:
    output = output_of(web(), logs(entries=["Traceback:\n  in main", ""]))
    assert output["logs"][0]["lines"] == ["Traceback:", "  in main", ""]


@pytest.mark.parametrize(
    ("status", "lives"),
    [
        ("running", "well"),
        ("degraded", "well"),
        ("CrashLoopBackOff", "failed"),
        ("OOMKilled", "failed"),
        ("error", "failed"),
    ],
)
def test_what_fails_says_so_when_it_fails_and_what_is_well_while_it_is(status: str, lives: str) -> None:
    output = output_of(web(status=status, replicas=2), logs())
    assert output["logs"][0]["lives"] == lives


def test_another_container_than_the_failing_one_has_its_lines_while_it_runs() -> None:
    containers = [{"name": "main"}, {"name": "proxy"}]
    state = web(status="CrashLoopBackOff", containers=containers)
    assert output_of(state, logs(container="proxy"))["logs"][0]["lives"] == "any"
    own = output_of(state, logs(container="main"))["logs"][0]
    assert own["lives"] == "failed"
    assert own["container"] == "main"


def test_what_else_has_the_name_does_not_decide_whether_a_workload_fails() -> None:
    claim = {"resource": "pvc/web", "namespace": "shop", "bound": True}
    output = output_of(web(status="CrashLoopBackOff"), claim, logs())
    assert output["logs"][0]["lives"] == "failed"


def test_the_log_of_an_init_container_is_told_by_its_name() -> None:
    init = [{"name": "fetch", "logs": "fetched"}, {"name": "migrate", "status": "error", "logs": "failed"}]
    output = output_of(web(init_containers=init))
    assert [(log["container"], log["lives"], log["lines"]) for log in output["logs"]] == [
        ("fetch", "any", ["fetched"]),
        ("migrate", "failed", ["failed"]),
    ]


def test_a_log_of_what_has_no_condition_is_that_of_any_life() -> None:
    assert output_of(web("cronjob"), logs())["logs"][0]["lives"] == "any"
    assert output_of(web("job"), logs())["logs"][0]["lives"] == "any"


def test_a_last_log_is_that_of_the_workload() -> None:
    (log,) = output_of(web(status="CrashLoopBackOff", last_log="bye"))["logs"]
    assert (log["container"], log["lives"], log["lines"]) == ("", "failed", ["bye"])


def test_images_on_which_workloads_of_one_name_differ_are_left_open() -> None:
    pod = web("pod", image="web:v7")
    assert output_of(web(image="web:v1"), pod, logs())["logs"][0]["images"] == {}


def test_usual_lines_name_no_cause_and_are_in_order() -> None:
    usual = output_of(web())["usual"]
    assert set(usual) == {"starting", "started", "unready", "failed", "done"}
    for lines in usual.values():
        assert [line["after"] for line in lines] == sorted(line["after"] for line in lines)
        assert all(line["text"].startswith("level=") for line in lines)


def test_a_workload_with_many_errors_says_so_unless_the_scenario_does() -> None:
    (log,) = output_of(web(status="elevated_error_rate", error_rate="8%"))["logs"]
    assert log["subject"] == "web"
    assert any("status=500" in line for line in log["lines"])
    (log,) = output_of(web(status="elevated_error_rate", error_rate="8%"), logs())["logs"]
    assert log["lines"] == ["a", "b"]


def test_commands_are_split_into_words_as_a_shell_does_it() -> None:
    state = web(exec={"cat '/etc/my app.conf'": "x\n", "check": {"stderr": "bad\n", "exit_code": 3}})
    cat, check, *usual = output_of(state)["commands"]
    assert cat == {
        "namespace": "shop",
        "subject": "web",
        "container": "",
        "command": ["cat", "/etc/my app.conf"],
        "stdout": "x\n",
        "stderr": "",
        "exit_code": 0,
    }
    assert (check["command"], check["stdout"], check["stderr"], check["exit_code"]) == (
        ["check"],
        "",
        "bad\n",
        3,
    )
    assert all(item["subject"] == item["namespace"] == "" for item in usual)
    assert ["hostname"] in [item["command"] for item in usual]


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"cat 'x": "y"}, "exec.cat 'x"),
        ({"": "y"}, "exec."),
        ({"cat": 3}, "exec.cat"),
        ({"cat": {"exit_code": 300}}, "exec.cat"),
        ({"cat": {"exit_code": True}}, "exec.cat"),
        ({"cat": {"stdin": "x"}}, "exec.cat"),
        ({"cat": {"stdout": 3}}, "exec.cat"),
        (["cat"], "exec"),
    ],
)
def test_a_command_that_cannot_be_read_is_refused_with_its_field(value: Any, field: str) -> None:
    (fault,) = plan_of(web(exec=value)).faults
    assert fault.field == field
    assert "want" in fault.message


def test_only_workloads_have_commands() -> None:
    (fault,) = plan_of({"resource": "service/web", "exec": {"cat": "x"}}).faults
    assert fault.field == "exec"


@pytest.mark.parametrize("status", ["ImagePullBackOff", "pending"])
def test_the_log_of_a_container_that_never_ran_is_refused(status: str) -> None:
    (fault,) = plan_of(web(status=status), logs()).faults
    assert (fault.resource, fault.field) == ("logs/web", "entries")
    assert "never ran" in fault.message
    (fault,) = plan_of(web(status=status, last_log="bye")).faults
    assert (fault.resource, fault.field) == ("deployment/web", "last_log")


def test_behind_a_failing_init_container_nothing_has_a_log() -> None:
    state = web(init_containers=[{"name": "migrate", "status": "error"}])
    assert not plan_of(state, logs(container="migrate")).faults
    (fault,) = plan_of(state, logs()).faults
    assert "Init:CrashLoopBackOff" in fault.message


def test_another_container_of_such_a_pod_may_have_a_log() -> None:
    containers = [{"name": "main"}, {"name": "proxy"}]
    state = web(status="ImagePullBackOff", containers=containers)
    assert not plan_of(state, logs(container="proxy")).faults
    assert plan_of(state, logs(container="main")).faults
    assert plan_of({**state, "status": "pending"}, logs(container="proxy")).faults


def test_the_container_of_a_log_must_have_a_name_that_can_exist() -> None:
    (fault,) = plan_of(web(), logs(container="No Such")).faults
    assert fault.field == "container"
