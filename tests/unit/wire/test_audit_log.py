from __future__ import annotations

import hashlib

import pytest

from oasis_operator.wire.audit_log import LineChain

LOG = b"one\ntwo\n\n" + b"x" * 5000 + b"\nlast\n"


def linked(*lines: bytes) -> str:
    head = bytes(32)
    for line in lines:
        head = hashlib.sha256(head + line).digest()
    return head.hex()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 100, len(LOG)])
def test_a_chain_does_not_depend_on_how_its_lines_arrive(size: int) -> None:
    chain = LineChain()
    for start in range(0, len(LOG), size):
        chain.add(LOG[start : start + size])
    assert chain.head == linked(*LOG.splitlines(keepends=True))
    assert (chain.lines, chain.whole_bytes, chain.size_bytes) == (5, len(LOG), len(LOG))


def test_a_line_that_has_not_ended_is_not_in_the_head() -> None:
    chain = LineChain()
    chain.add(b"one\ntw")
    assert (chain.head, chain.whole_bytes, chain.size_bytes) == (linked(b"one\n"), 4, 6)
    assert LineChain().head == "00" * 32


def test_a_copy_goes_on_by_itself_in_the_middle_of_a_line() -> None:
    chain = LineChain()
    chain.add(b"one\ntw")
    other = chain.copy()
    chain.add(b"o\n")
    assert other.head == linked(b"one\n")
    other.add(b"ist\n")
    assert (chain.head, other.head) == (linked(b"one\n", b"two\n"), linked(b"one\n", b"twist\n"))
