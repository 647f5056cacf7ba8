from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.profile.collector import Collector
from oasis_operator.profile.yaml_nodes import MAX_VALUES, parse_documents


def read(text: str) -> tuple[list[Any], list[tuple[str, int, int]]]:
    collector = Collector()
    nodes = parse_documents(text, collector.in_file("a.yaml"))
    return [node.plain() for node in nodes], [(f.code, f.line, f.column) for f in collector.sorted()]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1", 1),
        ("a: -12", -12),
        ("a: 1.5", 1.5),
        ("a: .5", 0.5),
        ("a: 1.5e+3", 1500.0),
        ("a: true", True),
        ("a: False", False),
        ("a: null", None),
        ("a: ~", None),
        ("a:", None),
        ("a: text", "text"),
        ("a: 'no'", "no"),
        ('a: "0755"', "0755"),
        ("a: 0.2.0-rc1", "0.2.0-rc1"),
        ("a: 8%", "8%"),
        ("a: 500m", "500m"),
        ("a: -6h", "-6h"),
        ("a: now", "now"),
        ("a: nobody", "nobody"),
        ("a: |\n  yes\n", "yes\n"),
        ("a: >\n  one\n  two\n", "one two\n"),
        ("a: [1, [2]]", [1, [2]]),
        ("a: &x {b: 1}", {"b": 1}),
    ],
)
def test_values_mean_what_every_reader_takes_them_for(text: str, value: object) -> None:
    documents, faults = read(text)
    assert faults == []
    assert documents == [{"a": value}]
    assert type(documents[0]["a"]) is type(value)


@pytest.mark.parametrize(
    "word",
    ["yes", "No", "ON", "off", "010", "0o17", "0x1F", "0b11", "1_000", "1:30", "12:30:45.5", "1e3", "1.0e3", "5.",
     ".inf", "-.INF", ".nan", "2026-11-30", "2026-11-30T08:00:00Z", "2026-11-30 08:00:00"],
)  # fmt: skip
def test_what_readers_disagree_on_is_a_fault_and_stays_a_string(word: str) -> None:
    documents, faults = read(f"key: {word}")
    assert faults == [("YML003", 1, 6)]
    assert documents == [{"key": word}]


def test_an_alias_stands_for_its_anchor() -> None:
    assert read("a: &x {b: [1]}\nc: *x\n") == ([{"a": {"b": [1]}, "c": {"b": [1]}}], [])


def test_anchors_end_with_their_document() -> None:
    documents, faults = read("a: &x 1\n---\nb: *x\n")
    assert documents == [{"a": 1}]
    assert [code for code, _, _ in faults] == ["YML004"]


def test_aliases_cannot_grow_without_bound() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    documents, faults = read("\n".join(lines))
    assert documents == []
    assert [code for code, _, _ in faults] == ["YML004"]


def test_a_document_with_too_many_values_is_not_read_to_its_end() -> None:
    documents, faults = read("- x\n" * (MAX_VALUES + 10))
    assert documents == []
    assert faults == [("YML006", MAX_VALUES + 1, 3)]


def test_a_hundred_thousand_brackets_are_a_fault_and_no_crash() -> None:
    documents, faults = read("[" * 100_000)
    assert documents == []
    assert [code for code, _, _ in faults] in (["YML005"], ["YML001"])


def test_documents_before_a_fault_are_kept() -> None:
    documents, faults = read("a: 1\n---\nb: [\n")
    assert documents == [{"a": 1}]
    assert [code for code, _, _ in faults] == ["YML001"]


def test_places_count_from_one_and_characters_not_bytes() -> None:
    _, faults = read('"größe": 1\n"ä": {größe: 2, größe: 3}\n')
    assert faults == [("YML002", 2, 17)]


def test_a_character_that_yaml_forbids_is_told_with_its_line() -> None:
    _, faults = read("a: 1\nb: \x07\n")
    assert [(code, line) for code, line, _ in faults] == [("YML001", 2)]


def test_lines_of_a_block_are_those_of_its_file() -> None:
    collector = Collector()
    parse_documents("a: 1\na: 2\n", collector.in_file("a.md"), line_offset=10)
    assert [(f.code, f.line) for f in collector.faults] == [("YML002", 12)]
