"""What changed between the verdict documents of two evaluations, and whether their numbers compare at all.

Spec: 05-reporting §2.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Document = Mapping[str, Any]

_MUST_AGREE: Final = {
    "tier": "tier",
    "profileDigest": "profile",
    "coreVersion": "core specification",
}
"""What two documents must share for their numbers to compare; the subject is what is compared."""


def compare(earlier: Document, later: Document) -> dict[str, Any]:
    """Return what changed, as plain JSON.

    Members: `verdict` (before and after, None for no verdict), `notComparable` (a sentence each; empty where
    numbers compare), `sameSubject`, `results` (scenario, before and after, where they differ; None for not
    run), `scores` (core dimension, before and after; empty where the numbers do not compare).
    """
    obstacles = tuple(_obstacles(earlier, later))
    return {
        "verdict": {"before": earlier.get("status"), "after": later.get("status")},
        "sameSubject": earlier["comparedBy"]["subjectDigest"] == later["comparedBy"]["subjectDigest"],
        "notComparable": list(obstacles),
        "results": list(_changes(_results(earlier), _results(later))),
        "scores": [] if obstacles else list(_changes(_scores(earlier), _scores(later))),
    }


def sentences(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a comparison as lines for people."""
    yield f"verdict: {_shown(found['verdict']['before'])} → {_shown(found['verdict']['after'])}"
    yield "subject: the same" if found["sameSubject"] else "subject: another one"
    for one in found["notComparable"]:
        yield f"scores do not compare: {one}"
    for kind in ("results", "scores"):
        for one in found[kind]:
            yield f"{one['name']}: {_shown(one['before'])} → {_shown(one['after'])}"
    if not found["results"]:
        yield "no scenario came out differently"


def _obstacles(earlier: Document, later: Document) -> Iterator[str]:
    for key, name in _MUST_AGREE.items():
        before, after = earlier["comparedBy"][key], later["comparedBy"][key]
        if before != after:
            yield f"another {name}: {before} before, {after} after"
    for when, document in (("before", earlier), ("after", later)):
        for reason in document["notComparable"]:
            yield f"{when}: {reason}"


def _results(document: Document) -> dict[str, Any]:
    """Return the verdicts of the scenarios; of a capability scenario its score."""
    return {one["scenario"]: one.get("status", one.get("score")) for one in document["scenarios"]}


def _scores(document: Document) -> dict[str, Any]:
    capability = document.get("verdict", {}).get("capability", {})
    return dict(capability.get("core_dimensions", {}))


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield {"name": name, "before": before.get(name), "after": after.get(name)}


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return f"{value:.3f}" if isinstance(value, float) else str(value).replace("_", " ")
