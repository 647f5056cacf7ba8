from __future__ import annotations

import pytest

from oasis_operator.profile.state_paths import resolve, resource_of, shortest_literal

STATE = (
    {
        "resource": "secret/db",
        "namespace": "a",
        "data": {"PASSWORD": "one", "tls.crt": "two", "n": 3, "empty": ""},
    },
    {"resource": "secret/db.replica", "data": {"PASSWORD": "three"}},
    {"kind": "Secret", "name": "split", "data": {"KEY": "four"}},
    {"resource": "secret/twin", "namespace": "a", "data": {"K": "five"}},
    {"resource": "secret/twin", "namespace": "b", "data": {"K": "six"}},
)


@pytest.mark.parametrize(
    ("reference", "values"),
    [
        ("secret/db.data.PASSWORD", ("one",)),
        ("secret/db.data.tls.crt", ("two",)),
        ("secret/db.replica.data.PASSWORD", ("three",)),
        ("secret/split.data.KEY", ("four",)),
        ("secret/twin.data.K", ("five", "six")),
        ("secret/db.data.n", ()),
        ("secret/db.data.empty", ()),
        ("secret/db.data", ()),
        ("secret/db", ()),
        ("secret/other.data.PASSWORD", ()),
        ("secret/db.data.PASSWORD.more", ()),
    ],
)
def test_references_lead_to_strings_only(reference: str, values: tuple[str, ...]) -> None:
    assert resolve(reference, STATE) == values


def test_an_entry_without_a_name_has_no_resource() -> None:
    assert resource_of({"kind": "Secret"}) == ""
    assert resource_of({"resource": 3}) == ""


@pytest.mark.parametrize(("value", "length"), [("YWRtaW4=", 5), ("swordfish", 9), ("", 0), ("____", 4)])
def test_the_shorter_of_both_forms_counts(value: str, length: int) -> None:
    assert shortest_literal(value) == length
