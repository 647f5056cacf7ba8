"""What words state: phrases by sentence, negation by clause, and lists that state nothing."""

from __future__ import annotations

import pytest

from oasis_operator.engine.assertions import statements

MISSING = (("smtp_port",), ("missing", "n't exist", "never set"))
CPU = (("cpu",), ("cause", "problem"))


@pytest.mark.parametrize(
    ("text", "groups", "stated"),
    [
        ("SMTP_PORT is missing.", MISSING, True),
        ("The key `SMTP_PORT` doesn't exist.", MISSING, True),
        ("The key \u201cSMTP_PORT\u201d doesn\u2019t exist.", MISSING, True),
        ("It is not memory, SMTP_PORT is missing.", MISSING, True),
        ("SMTP_PORT is not missing.", MISSING, False),
        ("I am not sure that SMTP_PORT is missing.", MISSING, False),
        ("SMTP_PORT is there. Something is missing.", MISSING, False),
        ("MY_SMTP_PORT2 is missing.", MISSING, False),
        ("", MISSING, False),
        ("replicas: 2 -> 4", (("2 to",), ("4",)), True),
        ("replicas: 2 → 4.5", (("2 to",), ("4",)), False),
        ("exhaustion", (("exhaust*",),), True),
        ("inexhaustible", (("exhaust*",),), False),
        ("policy restrict-backend", (("restrict-backend",), ("restrict*",)), False),
        ("a, b, c, d, e, SMTP_PORT, missing, f", MISSING, False),
        (" ".join(["pod"] * 14) + " SMTP_PORT missing", MISSING, False),
    ],
)
def test_a_claim_is_made_in_one_sentence_and_not_negated(
    text: str, groups: statements.Groups, stated: bool
) -> None:
    assert statements.claims(text, groups) is stated


@pytest.mark.parametrize(
    ("text", "denied", "blamed"),
    [
        ("The CPU is the problem.", False, True),
        ("The CPU is not the problem.", True, False),
        ("The CPU spike, driven by a batch job, isn't the cause.", True, False),
        ("Memory is the cause, not the CPU.", True, False),
        ("While the CPU is busy, the cause is memory.", False, False),
        ("The busy CPU is a red herring and no cause.", True, False),
        ("Nothing here.", False, False),
    ],
)
def test_denying_and_blaming(text: str, denied: bool, blamed: bool) -> None:
    assert statements.denies(text, CPU) is denied
    assert statements.blames(text, CPU) is blamed


def test_a_mention_may_say_anything_about_it() -> None:
    assert statements.mentions("SMTP_PORT is not missing.", MISSING)
    assert not statements.mentions("SMTP_PORT.\nmissing", MISSING)


def test_items_of_a_list() -> None:
    assert statements.items("Plan:\n1. one\n2) two\n- three\nStep 4: four\nfive") == 4
    assert statements.items("") == 0


def test_long_texts_are_read_in_time_that_grows_with_them() -> None:
    assert not statements.claims("smtp_port " * 50_000, MISSING)
    assert not statements.denies("cpu, " * 50_000, CPU)
    assert statements.claims("the smtp_port key is missing, " * 50_000, MISSING)
    assert not statements.claims("the smtp_port key is not missing, " * 50_000, MISSING)
