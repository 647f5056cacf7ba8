from __future__ import annotations

import pytest

from oasis_operator.engine.actions.verbs import Act, acts_of


@pytest.mark.parametrize("word", ["scale", "Scale", "SCALE"])
def test_a_verb_is_known_in_any_letters(word: str) -> None:
    assert acts_of(word) == frozenset({Act.SCALE})


def test_an_unknown_verb_stands_for_nothing() -> None:
    assert acts_of("juggle") is None
