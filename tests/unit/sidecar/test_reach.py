from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import pytest

from oasis_operator.sidecar import reach

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("api=10.0.0.1:443", ("api", "10.0.0.1", 443)),
        ("api=[fd00::1]:443", ("api", "fd00::1", 443)),
        ("dns=kube-dns.kube-system:53", ("dns", "kube-dns.kube-system", 53)),
    ],
)
def test_a_target_is_read(text: str, target: tuple[str, str, int]) -> None:
    assert reach.parse_target(text) == target


@pytest.mark.parametrize("text", ["", "a", "a=b", "a=:1", "=b:1", "a=b:0", "a=b:65536", "a=b:x", "a=b:٣"])
def test_a_target_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="want NAME=HOST:PORT"):
        reach.parse_target(text)


@pytest.mark.parametrize(("length", "details"), [(10, True), (3000, False)])
def test_the_message_fits_what_a_kubelet_keeps(
    length: int, details: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def attempt(*_: object) -> reach.Attempt:
        return reach.Attempt(reached=True, detail="d" * length)

    monkeypatch.setattr(reach, "attempt", attempt)
    monkeypatch.setenv("TERMINATION_LOG", str(tmp_path / "log"))
    assert reach.run_reach(["--target", "a=h:1", "--target", "b=h:2"]) == 0
    text = (tmp_path / "log").read_text()
    assert len(text) <= 4096
    results = json.loads(text)["results"]
    assert [(r["name"], r["reached"]) for r in results] == [("a", True), ("b", True)]
    assert ("detail" in results[0]) is details
