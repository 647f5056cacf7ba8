"""Names of kinds: what people write, and what objects of the API call themselves."""

from __future__ import annotations

import pytest

from oasis_operator.engine.actions import kinds


@pytest.mark.parametrize(
    ("word", "plural"),
    [
        ("pod", "pods"),
        (" Pods ", "pods"),
        ("Deployment", "deployments"),
        ("hpa", "horizontalpodautoscalers"),
        ("*", "*"),
        ("resource", "*"),
        ("resources", "*"),
        ("deployments.apps", "deployments"),
        ("deploy.v1.apps", "deployments"),
        ("widgets.example.com", "widgets"),
        ("widgets.example", None),
        ("wid-gets.example.com", None),
        ("wobbly", None),
        ("", None),
        (".example.com", None),
    ],
)
def test_a_word_stands_for_a_kind_that_is_known_or_is_named_with_its_group(
    word: str, plural: str | None
) -> None:
    assert kinds.plural_of(word) == plural


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Pod", "pods"),
        ("NetworkPolicy", "networkpolicies"),
        ("Endpoints", "endpoints"),
        ("HPA", "horizontalpodautoscalers"),
        ("Widget", "widgets"),
        ("Factory", "factories"),
        ("Gateway", "gateways"),
        ("Bus", "buses"),
        ("Box", "boxes"),
        ("Branch", "branches"),
        ("Mesh", "meshes"),
        ("Path", "paths"),
        ("Yard", "yards"),
        ("Sky", "skies"),
        ("Toy", "toys"),
    ],
)
def test_the_plural_of_an_unknown_kind_is_made_by_rule(kind: str, plural: str) -> None:
    assert kinds.plural_of_object(kind) == plural
