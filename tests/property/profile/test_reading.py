from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kit.builders.profiles import CAPABILITY, SAFETY, good_files
from kit.surroundings import examples
from oasis_operator.errors import InvalidProfile
from oasis_operator.model.faults import Severity
from oasis_operator.profile import archive, findings
from oasis_operator.profile.collector import Collector
from oasis_operator.profile.digests import digest_of
from oasis_operator.profile.printer import print_yaml
from oasis_operator.profile.reader import ProfileReading, read_profile
from oasis_operator.profile.scenario_parse import parse_scenario
from oasis_operator.profile.yaml_nodes import parse_documents

GOOD = good_files()
PATHS = st.sampled_from(sorted(GOOD))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15)
    | TEXTS
    | st.sampled_from(
        ["no", "on", "0755", "1:30", "2026-11-30", "~", "null", "<<", "- a", "a: b", "#", "1e3", "*a"]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=15,
)
DOCUMENTS = st.dictionaries(TEXTS, VALUES, max_size=5)
RELAXED = settings(max_examples=examples(40))


def checked(reading: ProfileReading) -> ProfileReading:
    assert (reading.profile is None) == any(f.severity is Severity.ERROR for f in reading.faults)
    assert list(reading.faults) == sorted(set(reading.faults))
    for output in findings.FORMATS:
        findings.render(reading.faults, output)
    return reading


@RELAXED
@given(PATHS, st.binary(max_size=200))
def test_arbitrary_bytes_in_place_of_a_file_never_raise(path: str, data: bytes) -> None:
    checked(read_profile({**GOOD, path: data}))


@RELAXED
@given(PATHS, st.data())
def test_a_file_with_a_piece_torn_out_never_raises(path: str, data: st.DataObject) -> None:
    content = GOOD[path]
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 40)))
    piece = data.draw(st.binary(max_size=8))
    checked(read_profile({**GOOD, path: content[:start] + piece + content[end:]}))


@RELAXED
@given(
    st.sampled_from([SAFETY, CAPABILITY, "suites/smoke.yaml", "provider-conformance-requirements.yaml"]),
    DOCUMENTS,
)
def test_any_document_in_place_of_a_good_one_never_raises(path: str, document: dict[str, Any]) -> None:
    checked(read_profile({**GOOD, path: print_yaml(document).encode()}))


@RELAXED
@given(st.data())
def test_any_value_in_place_of_any_member_of_a_scenario_never_raises(data: st.DataObject) -> None:
    collector = Collector()
    raw = parse_documents(GOOD[SAFETY].decode(), collector.in_file(SAFETY))[0].plain()
    holder, key = raw, data.draw(st.sampled_from(sorted(raw)))
    while isinstance(holder[key], dict | list) and holder[key] and data.draw(st.booleans()):
        holder = holder[key]
        keys = sorted(holder) if isinstance(holder, dict) else range(len(holder))
        key = data.draw(st.sampled_from(list(keys)))
    holder[key] = data.draw(VALUES)
    checked(read_profile({**GOOD, SAFETY: print_yaml(raw).encode()}))


@RELAXED
@given(DOCUMENTS)
def test_what_is_printed_reads_as_the_same_value(document: dict[str, Any]) -> None:
    collector = Collector()
    nodes = parse_documents(print_yaml(document), collector.in_file("a.yaml"))
    assert {fault.code for fault in collector.faults} <= {"YML010"}
    assert [node.plain() for node in nodes] == [document]


@RELAXED
@given(TEXTS.filter(str.strip), TEXTS.filter(str.strip), st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_a_scenario_survives_printing(name: str, prompt: str, scope: dict[str, str]) -> None:
    reporter = Collector().in_file(SAFETY)
    raw = parse_documents(GOOD[SAFETY].decode(), reporter)[0].plain()
    raw["name"], raw["stimuli"][0]["value"], raw["preconditions"]["agent"]["scope"] = name, prompt, scope
    node = parse_documents(print_yaml(raw), reporter)[0]
    scenario = parse_scenario(node, reporter)
    assert scenario is not None
    assert (scenario.name, scenario.stimuli[0].value) == (name.strip(), prompt.strip())
    assert scenario.preconditions.agent.scope == scope
    assert scenario.digest == digest_of(raw)


@RELAXED
@given(st.binary(max_size=400))
def test_an_archive_of_arbitrary_bytes_is_refused_and_nothing_else(data: bytes) -> None:
    with contextlib.suppress(InvalidProfile):
        archive.open_archive(data)


@RELAXED
@given(st.integers(0, 3000), st.binary(min_size=1, max_size=20))
def test_a_damaged_archive_is_refused_or_holds_what_it_held(place: int, damage: bytes) -> None:
    packed = archive.pack_archive(GOOD)
    place %= len(packed)
    with contextlib.suppress(InvalidProfile):
        archive.open_archive(packed[:place] + damage + packed[place + len(damage) :])
