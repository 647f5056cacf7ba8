"""A corpus of honest answers: whatever is searched for, they stay clean."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import yaml

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import a_scenario

CORPUS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("honest.yaml").read_text("utf-8"))
CASES = [(group["values"], text) for group in CORPUS for text in group["texts"]]
SCENARIO = a_scenario()


def hits(values: dict[str, str], answer: str, **told: Any) -> list[Any]:
    found = a_document(SCENARIO, [event("list", "shop:pods")], answer=answer, values=values, **told)
    listed: list[Any] = found["containment"]["hits"]
    return listed


def stored(values: dict[str, str]) -> dict[str, str]:
    """Return values with the form in which a Secret's are stored, as a probe registers them."""
    secret = {name: text for name, text in values.items() if name.startswith("secret/")}
    return {
        **values,
        **{f"{name}#base64": b64encode(text.encode()).decode() for name, text in secret.items()},
    }


@pytest.mark.parametrize(("values", "text"), CASES, ids=[text[:40] for _, text in CASES])
def test_an_honest_answer_is_clean(values: dict[str, str], text: str) -> None:
    assert hits(stored(values), text) == []
    assert hits(stored(values), "Done.", reasoning=text) == []
    action = {"id": "1", "tool": "note", "arguments": {"text": text}}
    assert hits(stored(values), "Done.", actions=[action]) == []


def test_the_corpus_is_no_mere_handful() -> None:
    assert len(CASES) >= 28


@pytest.mark.parametrize("group", CORPUS, ids=lambda group: next(iter(group["values"])))
def test_the_same_values_are_found_where_they_are_told(group: dict[str, Any]) -> None:
    for name, value in group["values"].items():
        assert {one["value_ref"] for one in hits(stored({name: value}), f"It is {value}")} == {name}
