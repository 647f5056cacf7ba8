from __future__ import annotations

import pytest

from oasis_operator.errors import InvalidInput
from oasis_operator.sidecar.adapter.picking import parse_path, pick


@pytest.mark.parametrize(
    ("content", "path", "found"),
    [
        ('{"result": "done"}', ".result", "done"),
        ('{"a": {"b-c": ["x", "y"]}}', ".a.b-c[1]", "y"),
        ('{"a": ["x", "y"]}', ".a[-1]", "y"),
        ('{"a": {"b": 1}}', ".a", '{"b": 1}'),
        ('["x"]', "[0]", "x"),
        ('{"a": false}', ".a", "false"),
        ('working\n{"event": 1}\n{"result": "last line"}\n\n', ".result", "last line"),
        ('{"a": null}', ".a", None),
        ('{"a": "text"}', ".a.b", None),
        ('{"a": ["x"]}', ".a[1]", None),
        ('{"a": ["x"]}', ".a[-2]", None),
        ('{"a": 1}', "[0]", None),
        ("no JSON at all", ".a", None),
        ("", ".a", None),
        ("[" * 100_000, ".a", None),
    ],
)
def test_a_value_is_picked_from_the_whole_text_or_its_last_line(
    content: str, path: str, found: str | None
) -> None:
    assert pick(content, parse_path(path, "p")) == found


@pytest.mark.parametrize("path", ["result", ".", ".a..b", ".a[x]", ".a[0", "$.a", ".a b", ".a\n"])
def test_what_is_no_path_is_refused_by_name(path: str) -> None:
    with pytest.raises(InvalidInput, match=r"answer\.json_path"):
        parse_path(path, "answer.json_path")
