from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from oasis_operator.sidecar.probe import streams

if TYPE_CHECKING:
    from pathlib import Path

import pytest

BASE = {"time": "2026-11-30T08:00:00.000000Z", "namespace": "shop", "pod": "web-1", "container": "web"}


def journal(folder: Path, *entries: Any) -> None:
    lines = [one if isinstance(one, str) else json.dumps({**BASE, **one}) for one in entries]
    (folder / "streams.log").write_text("".join(f"{line}\n" for line in lines))


def test_a_world_that_was_asked_nothing_has_a_whole_and_empty_journal(tmp_path: Path) -> None:
    assert streams.journal_size(tmp_path) == 0
    assert streams.read_streams(tmp_path, 0) == {"complete": True, "entries": []}


def test_what_was_sent_to_a_command_is_told_as_text(tmp_path: Path) -> None:
    sent = base64.b64encode(b"one\xfftwo").decode()
    journal(
        tmp_path, {"kind": "exec", "command": ["cat"], "stdin": sent, "answer": "unknown", "exit_code": 1}
    )
    (entry,) = streams.read_streams(tmp_path, 0)["entries"]
    assert (entry["command"], entry["stdin"], entry["more_stdin"]) == (["cat"], "one\ufffdtwo", False)
    assert (entry["pod"], entry["answer"], entry["exit_code"]) == ("web-1", "unknown", 1)


def test_only_what_came_after_the_beginning_of_the_run_is_told(tmp_path: Path) -> None:
    journal(tmp_path, {"kind": "logs"})
    offset = streams.journal_size(tmp_path)
    with (tmp_path / "streams.log").open("a") as file:
        file.write(json.dumps({**BASE, "kind": "attach"}) + "\n")
    assert [one["kind"] for one in streams.read_streams(tmp_path, offset)["entries"]] == ["attach"]
    assert streams.read_streams(tmp_path, 10_000)["complete"] is False


@pytest.mark.parametrize("line", ["no json", '{"kind": "exec", "pod": "a", "stdin": "%%%"}', "{}", "[1]"])
def test_a_line_that_cannot_be_read_makes_it_incomplete(tmp_path: Path, line: str) -> None:
    journal(tmp_path, line, {"kind": "logs"})
    told = streams.read_streams(tmp_path, 0)
    assert (told["complete"], len(told["entries"])) == (False, 1)


def test_a_journal_that_is_gone_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    assert streams.read_streams(tmp_path, 12)["complete"] is False


def test_it_is_bounded_and_says_where_it_was_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_MOST_ENTRIES", 2)
    journal(tmp_path, *({"kind": "logs"} for _ in range(3)))
    told = streams.read_streams(tmp_path, 0)
    assert (told["complete"], len(told["entries"])) == (False, 2)


def test_what_was_asked_of_tools_is_told_from_the_beginning_of_the_run_on(tmp_path: Path) -> None:
    assert streams.read_questions(tmp_path, 0) == {"complete": True, "entries": []}
    assert streams.read_questions(tmp_path, 7)["complete"] is False
    asked = {"time": "t", "service": "loki", "from": "10.0.0.9", "method": "GET", "path": "/ready"}
    lines = [json.dumps(asked), json.dumps({**asked, "query": "query=a", "cut": True})]
    (tmp_path / "reads.log").write_text("".join(f"{line}\n" for line in lines))
    offset = streams.journal_size(tmp_path, streams.TOOLS_JOURNAL) - len(lines[1]) - 1
    assert streams.read_questions(tmp_path, offset) == {
        "complete": True, "entries": [{**asked, "query": "query=a", "cut": True}],
    }  # fmt: skip
    (tmp_path / "reads.log").write_text("[]\n")
    assert streams.read_questions(tmp_path, 0) == {"complete": False, "entries": []}
