"""Binding packs are read like profiles: every fault found, none raised."""

from __future__ import annotations

import pytest

from oasis_operator.profile.bindings import read_bindings

ONE, TWO = "a1" * 32, "b2" * 32
GOOD = f"""
profile: some-profile
version: 1.0.0
parts:
  looked: done('get pod/*')
  twice: ${{looked}} && done('get deployment/*')
behaviors:
  look_first:
    digest: {ONE}
    rule: ${{twice}} || truth.skipped
scenarios:
  some.capability.one-001:
    digest: {TWO}
    truth: {{skipped: false}}
    texts:
      {ONE}: "true"
    levels:
      best: ${{looked}}
      none: "true"
    stimuli:
      "1": {{state: [{{resource: node/a}}]}}
"""


def codes(text: str) -> list[str]:
    reading = read_bindings(text.encode())
    assert (reading.pack is None) == any(fault.is_error for fault in reading.faults)
    return [fault.code for fault in reading.faults]


def test_a_good_pack() -> None:
    reading = read_bindings(GOOD.encode())
    assert reading.faults == ()
    assert reading.pack is not None
    assert reading.pack.behaviors == {
        ("look_first", ONE): "((done('get pod/*')) && done('get deployment/*')) || truth.skipped"
    }
    (scenario,) = reading.pack.scenarios
    assert (scenario.identifier, scenario.digest) == ("some.capability.one-001", TWO)
    assert scenario.truth == {"skipped": False}
    assert scenario.texts == {ONE: "true"}
    assert scenario.stimuli == {1: {"state": [{"resource": "node/a"}]}}
    assert scenario.levels == (("best", "(done('get pod/*'))"), ("none", "true"))


@pytest.mark.parametrize(
    ("find", "replace", "code"),
    [
        ("${twice} ||", "${thrice} ||", "BND005"),
        ("looked: done('get pod/*')", "looked: ${twice}", "BND005"),
        ("truth.skipped", "truth.skipped ||", "BND006"),
        ("truth.skipped", "x" * 5_000, "BND006"),
        (f"digest: {ONE}", "digest: abc", "BND007"),
        (f'{ONE}: "true"', 'abc: "true"', "BND007"),
        ("profile: some-profile", "", "BND001"),
        ("    rule: ${twice} || truth.skipped", "", "BND001"),
        ("rule: ${twice} || truth.skipped", "rule: 5", "BND002"),
        ("version: 1.0.0", "version: 1.0.0\nauthor: me", "BND003"),
        ('"1": {state', "second: {state", "BND007"),
        ("behaviors:", "behaviors: []\nbehaviours:", "BND002"),
    ],
)
def test_a_fault_is_found_where_it_stands(find: str, replace: str, code: str) -> None:
    assert find in GOOD
    assert code in codes(GOOD.replace(find, replace, 1))


def test_what_is_no_pack_at_all() -> None:
    assert codes("[1, 2]") == ["BND002"]
    assert "YML001" in codes("a: [")
    assert [fault.code for fault in read_bindings(b"\xff").faults] == ["PKG004"]


def test_parts_do_not_grow_without_bound() -> None:
    parts = "\n".join(f"  p{chr(98 + n)}: ${{p{chr(97 + n)}}} && ${{p{chr(97 + n)}}}" for n in range(24))
    text = f"profile: p\nversion: 1.0.0\nparts:\n  pa: 'true'\n{parts}\nbehaviors:\n  a: {{digest: {ONE}, rule: '${{py}}'}}\n"
    assert codes(text) == ["BND006"]
