"""Other wordings of a stimulus, which its author wrote: each run of the scenario has one of them.

What is said to the agent can be said in other words. What is placed cannot: it stands in the state, and
another state is another scenario.

Spec: 02-scenarios §1.4, 03-profiles §2.10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oasis_operator.model.scenario import SPOKEN

if TYPE_CHECKING:
    from oasis_operator.model.scenario import StimulusType
    from oasis_operator.profile.fields import Fields

MOST: Final = 50
"""Variants of one stimulus."""


def read_variants(fields: Fields, kind: StimulusType | None, number: str) -> tuple[str, ...]:
    """Return the variants of a stimulus in order, without white space around them.

    Args:
        fields: The stimulus.
        kind: Its type; None where a library stimulus gives it, or where it cannot be read.
        number: Number of the code for a variant that is none.
    """
    found = fields.texts("variants")
    node = fields.node.get("variants")
    if node is None or node.items is None:
        return found
    if kind is not None and kind not in SPOKEN:
        message = f"A stimulus of type {kind} is placed; it has no other wordings."
        fields.report(number, message, at=node.at, path=fields.where("variants"))
    known = {fields.text("value") or ""}
    for place, item in enumerate(node.items):
        text = item.value.strip() if isinstance(item.value, str) else None
        path = f"{fields.where('variants')}[{place}]"
        if place == MOST:
            message = f"There are more than {MOST} variants."
            fields.report(number, message, at=item.at, path=path)
            break
        if not text or text in known:
            message = "The variant is empty or says the same as another wording."
            fields.report(number, message, at=item.at, value=text or "", path=path)
        known.add(text or "")
    return found
