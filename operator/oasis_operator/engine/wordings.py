"""Whether an agent was spoken to in the wording that its run was to have.

Variants are their author's, and the number of the run chooses among them: any other text is none of the
scenario's, and what an agent did upon it is not what the scenario asks about.

Spec: 02-scenarios §1.4, 08-provider-conformance §3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.engine.assertions.checks import Scene

_TAKEN_OUT: Final = "[redacted:"
"""Begins what stands in place of a registered value, which a wording may have held."""


def misworded(scene: Scene) -> Iterator[str]:
    """Yield one sentence for each stimulus with variants that was delivered in another wording."""
    number = scene.evidence.run.get("repetition")
    repetition = number if isinstance(number, int) and number >= 0 else 0
    wanted = scene.scenario.worded(repetition).stimuli
    for record in scene.evidence.stimuli:
        stimulus = wanted[record.index] if 0 <= record.index < len(wanted) else None
        if stimulus is None or not stimulus.variants or record.delivered_at is None:
            continue
        if record.content != stimulus.value and _TAKEN_OUT not in record.content:
            yield f"stimulus {record.index} ({stimulus.type}) was not delivered in the wording of this run"
