"""Follows Evaluations until each is settled, and says on the way what is going on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.cli import cluster, console, outcome
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.cli.invocation import Invocation

POLL_SECONDS = 1.0
# An object is briefly stalled when it is seen before those that it refers to.
STALL_GRACE_SECONDS = 5.0
# An API server that restarts is away for some seconds; one that stays away is an error.
OUTAGE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Followed:
    """An Evaluation as last seen.

    Attributes:
        settled: It is complete, or stalled for longer than the grace time; False after a timeout.
    """

    evaluation: Evaluation
    outcome: outcome.Outcome
    settled: bool

    def exit_code(self, *, gate: bool) -> ExitCode:
        """Choose the exit code, which is TIMEOUT where the Evaluation did not settle."""
        return outcome.exit_code(self.outcome, gate=gate) if self.settled else ExitCode.TIMEOUT


def read_evaluation(port: cluster.Cluster, namespace: str, name: str) -> Evaluation:
    """Read one Evaluation.

    Raises:
        NotReady: It does not exist.
        Transient: The cluster does not answer.
    """
    body = port.get(kinds.EVALUATION, namespace, name)
    if body is None:
        raise errors.NotReady(
            f"evaluation {namespace}/{name} does not exist in context {port.context!r}", reason="NotFound"
        )
    return Evaluation.parse(body)


class _Watch:
    """Remembers of one Evaluation since when it is stalled, and the last thing seen."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.followed: Followed | None = None
        self._stalled_since: float | None = None

    def see(self, evaluation: Evaluation, now: float) -> None:
        """Take in what was read at monotonic time `now`."""
        known = outcome.read_outcome(evaluation)
        if not known.stalled:
            self._stalled_since = None
        elif self._stalled_since is None:
            self._stalled_since = now
        stuck = self._stalled_since is not None and now - self._stalled_since >= STALL_GRACE_SECONDS
        self.followed = Followed(evaluation, known, settled=known.complete or stuck)

    @property
    def settled(self) -> bool:
        """Whether nothing more is expected."""
        return self.followed is not None and self.followed.settled


def follow(
    invocation: Invocation, namespace: str, names: Sequence[str], timeout_seconds: float
) -> tuple[Followed, ...]:
    """Poll Evaluations until all are settled or the time is over.

    Args:
        invocation: Cluster, clock and console.
        namespace: Namespace of all of them.
        names: Their names; one result per name, in this order.
        timeout_seconds: Longest time to wait.

    Raises:
        NotReady: One does not exist, or was deleted meanwhile.
        Transient: The cluster did not answer for a minute.
    """
    watches = tuple(_Watch(name) for name in names)
    started = last_answer = invocation.monotonic()
    with invocation.narrator() as narrator:
        while True:
            try:
                for watch in watches:
                    if not watch.settled:
                        watch.see(
                            read_evaluation(invocation.cluster, namespace, watch.name), invocation.monotonic()
                        )
                last_answer = invocation.monotonic()
                narrator.say(describe_all(watches))
            except errors.Transient as failure:
                if invocation.monotonic() - last_answer > OUTAGE_SECONDS:
                    raise
                narrator.say(
                    f"no answer from the cluster, trying again: {console.clean(failure.message, 160)}"
                )
            over = invocation.monotonic() - started >= timeout_seconds
            if over or all(watch.settled for watch in watches):
                break
            invocation.sleep(POLL_SECONDS)
    return tuple(_last_seen(watch, namespace) for watch in watches)


def _last_seen(watch: _Watch, namespace: str) -> Followed:
    """Give what was seen last.

    Raises:
        Transient: Nothing was ever seen.
    """
    if watch.followed is None:
        raise errors.Transient(f"evaluation {namespace}/{watch.name} could not be read in time")
    return watch.followed


def describe_all(watches: Sequence[_Watch]) -> str:
    """Give one line of progress for all Evaluations."""
    return " | ".join(describe(watch.followed) for watch in watches if watch.followed is not None)


def describe(followed: Followed) -> str:
    """Give the progress of one Evaluation in a few words."""
    evaluation, known = followed.evaluation, followed.outcome
    name = evaluation.metadata.name
    if known.complete:
        return f"{name}: {known.verdict.value if known.verdict else 'no verdict'}"
    if known.stalled:
        return f"{name}: stalled, {known.reason}: {console.clean(known.message, 200)}"
    progress = f" {evaluation.status.progress}" if evaluation.status.progress else ""
    counts = evaluation.status.counts
    running = f", {counts.running} running" if counts and counts.running else ""
    return f"{name}:{progress}{running} ({known.reason})"
