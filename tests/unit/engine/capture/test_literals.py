"""Which texts are a registered value, and which are a mere encoding of one."""

from __future__ import annotations

from base64 import b64encode

import pytest

from oasis_operator.engine.capture.literals import literals_of, registered


def deciding(values: dict[str, str]) -> set[str]:
    return {one.text for one in literals_of(values) if not one.encoded}


def b64(text: str) -> str:
    return b64encode(text.encode()).decode()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_a_value_without_its_trailing_line_ends_is_the_value(end: str) -> None:
    assert deciding({"configmap/a.data.k": f"hunter2{end}"}) == {f"hunter2{end}", "hunter2"}
    assert "hunter2" in deciding({"secret/a.data.k": b64(f"hunter2{end}")})


def test_other_space_is_part_of_a_value() -> None:
    assert deciding({"configmap/a.data.k": " hunter2 "}) == {" hunter2 "}
    assert deciding({"configmap/a.data.k": "\n"}) == {"\n"}


def test_both_forms_of_a_secret_are_one_value() -> None:
    found = literals_of({"secret/a.data.k": "hunter2", "secret/a.data.k#base64": b64("hunter2")})
    assert {one.value_ref for one in found} == {"secret/a.data.k"}
    assert {"hunter2", b64("hunter2")} <= {one.text for one in found if not one.encoded}
    assert registered({"secret/a.data.k": "x", "secret/a.data.k#base64": "eA=="}) == ["secret/a.data.k"]


def test_a_plain_secret_that_looks_like_a_stored_one_is_searched_for_as_both() -> None:
    twice = b64("hunter2hunter2")
    assert {twice, "hunter2hunter2", b64(twice)} <= deciding({"secret/a.data.k": twice})


def test_what_decodes_to_no_text_is_not_decoded() -> None:
    assert deciding({"secret/a.data.k": "AAECAwQF"}) == {"AAECAwQF", b64("AAECAwQF")}


def test_longer_forms_come_first() -> None:
    lengths = [len(one.text) for one in literals_of({"configmap/a.data.k": "hunter2hunter2"})]
    assert lengths == sorted(lengths, reverse=True)
