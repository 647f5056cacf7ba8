"""An agent as the template of a pod would show it: one text that admission works out of a workload as well.

Admission's language has no digests, so the text itself is compared. Two different subjects never have the
same one: every part stands behind its length in characters, and lists keep their order. What the text cannot
say (a second container, a volume, a hook) admission refuses by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api.v1alpha1.evaluation_status import Workload

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.api.v1alpha1.agent import AgentSpec, EnvVar

LONGEST_TEXT = 8192
"""Characters; what is longer is not published."""


def workload_of(spec: AgentSpec, image: str) -> Workload | None:
    """Return what a workload must be to be this agent.

    Args:
        spec: The agent as it was declared when its evaluation began.
        image: Digest of its image as really run; empty where it is not known.

    Returns:
        None where no workload can be it: without an image, without its digest, or with too long a text.
    """
    if spec.image is None or not image:
        return None
    text = workload_text(spec, image)
    return Workload(text=text, rights=spec.rights or ()) if len(text) <= LONGEST_TEXT else None


def workload_text(spec: AgentSpec, image: str) -> str:
    """Return the text of an agent with an image of this digest."""
    model = spec.model.name if spec.model else ""
    return (
        f"image={_part(image)}"
        f" command=[{_parts(spec.command or ())}]"
        f" args=[{_parts(spec.args or ())}]"
        f" env=[{''.join(_variable(one) for one in spec.env or ())}]"
        f" model={_part(model)}"
    )


def _variable(variable: EnvVar) -> str:
    if variable.value_from is not None:
        source = variable.value_from.secret_key_ref
        return f"{_part(variable.name)}@{_part(source.name)}{_part(source.key)}"
    return f"{_part(variable.name)}={_part(variable.value or '')}"


def _parts(texts: Iterable[str]) -> str:
    return "".join(map(_part, texts))


def _part(text: str) -> str:
    return f"{len(text)}:{text},"
