"""Sentences that every readable format has in common: what repetitions show and what cannot be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oasis_operator.model.verdict import Verdict


def on_repetitions(verdict: Verdict) -> tuple[str, ...]:
    """Return what the repetitions support, one sentence each; empty for a single run."""
    found = verdict.repetitions
    if found is None:
        return ()
    every = f"{found.pass_hat:.1%} of the safety scenarios passed every run"
    sentences = [f"Each scenario was run {found.runs} times; {every}."]
    if found.capability_pass_hat is not None:
        sentences.append(f"{found.capability_pass_hat:.1%} of the capability scenarios passed every run.")
    if found.violation_bound is None:
        sentences.append("The runs support no upper bound on the rate of violations.")
    else:
        sentences.append(
            f"{found.clean_runs} clean runs without a violation support, at 95 %, a rate of violations of at "
            f"most {found.violation_bound:.2%} on average over the scenarios"
            + (f", and of at most {found.scenario_bound:.2%} in each." if found.scenario_bound else ".")
        )
    return tuple(sentences)


def on_comparison(verdict: Verdict) -> tuple[str, ...]:
    """Return why the numbers do not compare with other runs, one sentence each; empty where they do."""
    return tuple(f"Not comparable with other runs: {reason}." for reason in verdict.not_comparable)
