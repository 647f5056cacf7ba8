"""What the containers of a world say, as one file for the program that plays the nodes.

Declared lines belong to a workload: pods that it gets later have them too, as long as they run the declared
image and, where the workload is declared to fail, fail. All others say what is usual for their state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.world.commands import USUAL
from oasis_operator.world.manifests import CommandAnswer, Condition, Expectation, Json, Kind, LogLines
from oasis_operator.world.speakers import images_of

if TYPE_CHECKING:
    from oasis_operator.world.plan import Plan

_FAILING = frozenset({Condition.CRASH_LOOP, Condition.OOM_KILLED, Condition.ERROR, Condition.INIT_ERROR})
_WELL = frozenset({Condition.RUNNING, Condition.DEGRADED, Condition.UNREADY, Condition.ELEVATED_ERRORS})
_WORKLOADS = frozenset({Kind.DEPLOYMENT, Kind.STATEFULSET, Kind.DAEMONSET, Kind.POD, Kind.JOB})

_STARTING = (0, 'level=info msg="starting" app=<container> image=<image>')
_UNHEALTHY = 'level=warn msg="health check failed" path=/healthz status=503'
#: Lines by state, each with seconds since the start of its container. They name no cause: what is wrong is
#: for the scenario to say.
_USUAL: dict[str, tuple[tuple[int, str], ...]] = {
    "starting": (_STARTING,),
    "started": (_STARTING, (0, 'level=info msg="listening" address=":<port>"')),
    "unready": ((12, _UNHEALTHY), (22, _UNHEALTHY), (32, _UNHEALTHY)),
    "failed": (
        (2, 'level=error msg="startup did not complete"'),
        (2, 'level=error msg="exiting" code=<code>'),
    ),
    "done": ((2, 'level=info msg="finished" code=<code>'),),
}

_ERRORS = (
    'level=info msg="request" method=GET path=/ status=200',
    'level=error msg="request" method=POST path=/ status=500',
    'level=info msg="request" method=GET path=/ status=200',
    'level=error msg="request" method=GET path=/ status=500',
)


def build_output(plan: Plan, until: str) -> Json:
    """Build the file's content.

    Args:
        plan: The plan of the world.
        until: The moment of preparation, RFC 3339, up to which declared lines were written.

    Returns:
        Members ``until``, ``logs``, ``usual`` and ``commands``, as in the contract of the environment pod.
    """
    return {
        "until": until,
        "logs": [_log(plan, item) for item in (*_merged(plan), *_erring(plan))],
        "usual": {
            state: [{"after": after, "text": text} for after, text in lines]
            for state, lines in _USUAL.items()
        },
        "commands": [_command(item) for item in (*plan.commands, *USUAL)],
    }


def _merged(plan: Plan) -> list[LogLines]:
    """Give one log to each container, with the lines of all entries about it in their order."""
    lines: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for log in plan.logs:
        key = (log.subject, log.namespace, log.container)
        lines[key] = (*lines.get(key, ()), *log.lines)
    return [
        LogLines(subject, namespace, told, container)
        for (subject, namespace, container), told in lines.items()
    ]


def _erring(plan: Plan) -> list[LogLines]:
    """Give what workloads say that answer with errors, where the scenario does not."""
    told = {(log.namespace, log.subject) for log in plan.logs}
    return [
        LogLines(item.name, item.namespace, _ERRORS, item.container)
        for item in plan.expectations
        if item.condition is Condition.ELEVATED_ERRORS and (item.namespace, item.name) not in told
    ]


def _log(plan: Plan, log: LogLines) -> Json:
    manifests = [manifest for rank in plan.ranks for manifest in rank]
    return {
        "namespace": log.namespace,
        "subject": log.subject,
        "container": log.container,
        "images": images_of(manifests, log.namespace, log.subject),
        "lives": _lives(plan, log),
        "lines": [line for text in log.lines for line in text.splitlines() or [""]],
    }


def _lives(plan: Plan, log: LogLines) -> str:
    """Tell which lives of a container have a log: those that failed, those that did not, or any.

    What is declared to fail logs its lines when it fails, what is declared to be well does so while it is.
    """
    owners = [item for item in plan.expectations if _is_owner(item, log)]
    if owners and all(
        item.condition in _FAILING and log.container in ("", item.container) for item in owners
    ):
        return "failed"
    return "well" if owners and all(item.condition in _WELL for item in owners) else "any"


def _is_owner(expected: Expectation, log: LogLines) -> bool:
    own = (expected.namespace, expected.name) == (log.namespace, log.subject)
    return own and expected.kind in _WORKLOADS


def _command(answer: CommandAnswer) -> Json:
    return {
        "namespace": answer.namespace,
        "subject": answer.subject,
        "container": "",
        "command": list(answer.command),
        "stdout": answer.stdout,
        "stderr": answer.stderr,
        "exit_code": answer.exit_code,
    }
