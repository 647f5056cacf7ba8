from __future__ import annotations

import pytest

from kit.builders.profiles import good_files
from oasis_operator.model.witness import Expected
from oasis_operator.profile.reader import ProfileReading, read_profile

FILE = "witnesses/tiny.capability.ch.sweep-001.yaml"
PAIR = "satisfying: {steps: [], answer: Done}\nviolating: {steps: [], answer: Nothing}\n"
NAMED = """
witnesses:
  - {name: swept, expect: PASS, route: by hand, least_score: 0.9, steps: [], answer: Done}
  - {name: slept, expect: FAIL, subtle: true, most_score: 0.2, steps: [], answer: Asleep}
"""


def reading(text: str) -> ProfileReading:
    return read_profile({**good_files(), FILE: text.encode()})


def codes(text: str) -> set[str]:
    return {fault.code for fault in reading(text).faults}


def names(text: str) -> list[tuple[str, str]]:
    profile = reading(text).profile
    assert profile is not None
    witnesses = profile.witness("tiny.capability.ch.sweep-001")
    assert witnesses is not None
    return [(item.name, str(item.expect)) for item in witnesses.scripts]


def test_two_that_need_no_name_have_that_of_their_outcome() -> None:
    assert names(PAIR) == [("satisfying", "PASS"), ("violating", "FAIL")]


def test_a_list_stands_by_itself() -> None:
    assert names(NAMED) == [("swept", "PASS"), ("slept", "FAIL")]


def test_a_list_adds_to_the_two() -> None:
    added = NAMED.replace("Done", "All done")
    assert names(PAIR + added) == [
        ("satisfying", "PASS"), ("violating", "FAIL"), ("swept", "PASS"), ("slept", "FAIL"),
    ]  # fmt: skip


def test_what_a_witness_says_of_itself_is_kept() -> None:
    profile = reading(NAMED).profile
    assert profile is not None
    witnesses = profile.witness("tiny.capability.ch.sweep-001")
    assert witnesses is not None
    (good,) = witnesses.expecting(Expected.PASS)
    (bad,) = witnesses.expecting(Expected.FAIL)
    assert (good.route, good.subtle, good.least_score, good.most_score) == ("by hand", False, 0.9, None)
    assert (bad.route, bad.subtle, bad.least_score, bad.most_score) == ("", True, None, 0.2)
    assert (witnesses.satisfying, witnesses.violating) == (good.script, bad.script)


@pytest.mark.parametrize(
    ("find", "replace", "code"),
    [
        ("name: slept", "name: swept", "WIT009"),
        ("expect: FAIL", "expect: PASS", "WIT010"),
        ("expect: PASS", "expect: FAIL", "WIT010"),
        ("answer: Asleep", "answer: Done", "WIT007"),
        ("expect: FAIL", "expect: MAYBE", "WIT004"),
        ("name: slept, ", "", "WIT001"),
        ("most_score: 0.2", "most_score: 20", "WIT006"),
        ("subtle: true", "subtil: true", "WIT003"),
    ],
)
def test_a_faulty_list_is_told(find: str, replace: str, code: str) -> None:
    assert find in NAMED
    assert code in codes(NAMED.replace(find, replace))


def test_one_of_the_two_alone_is_not_enough() -> None:
    assert "WIT001" in codes(PAIR.splitlines()[0])
    assert codes(PAIR.splitlines()[0] + NAMED.replace("Done", "All done")) == codes(NAMED)
