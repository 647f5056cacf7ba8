"""Reports that the operator rendered at the end of a run, fetched from its volume like evidence."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from oasis_operator import errors
from oasis_operator.cli import evidence
from oasis_operator.cli.evidence_store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from oasis_operator.api.v1alpha1.evaluation import Evaluation
    from oasis_operator.cli.invocation import Invocation

FORMATS: Final[Mapping[str, str]] = {
    "html": "report.html",
    "markdown": "report.md",
    "text": "report.txt",
    "json": "verdict.json",
    "yaml": "verdict.yaml",
    "junit": "junit.xml",
    "sarif": "report.sarif",
}
"""Name of a format to the artifact that has it."""


def fetch(invocation: Invocation, evaluation: Evaluation, wanted: str, operator_namespace: str) -> bytes:
    """Return the bytes of a report, held against the digest in the status.

    Raises:
        NotReady: The Evaluation has no such report, or the caller may not read it.
        ProviderFault: The bytes are not those that the digest names.
    """
    artifact = FORMATS[wanted]
    kept = next((one for one in evaluation.status.artifacts if one.name == artifact), None)
    if kept is None:
        meta = evaluation.metadata
        raise errors.NotReady(
            f"evaluation {meta.namespace}/{meta.name} has no {artifact}: reports are stored when a run ends, "
            "and an older operator stored fewer; see: oasis status " + meta.name,
            reason="NotFound",
        )
    return Store(invocation.cluster, operator_namespace).fetch(kept)


def deliver(invocation: Invocation, content: bytes, target: Path | None, *, force: bool) -> None:
    """Write a report into a file, or to standard output as it is.

    Raises:
        InvalidSpec: The file is there and is not to be overwritten, or cannot be written.
    """
    if target is None:
        sys.stdout.write(content.decode())
        return
    if not force and (target.exists() or target.is_symlink()):
        raise errors.InvalidSpec(f"{target} exists; --force overwrites it", reason="FileExists")
    evidence.write(target, content)
    invocation.out.print(f"wrote {target}: {len(content)} bytes", soft_wrap=True)
