from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pytest

from oasis_operator.errors import InvalidInput
from oasis_operator.wire.fields import Fields, shown

if TYPE_CHECKING:
    from collections.abc import Callable


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


BODY: dict[str, Any] = {
    "text": "abc",
    "number": 1.5,
    "whole": 3,
    "flag": True,
    "colour": "red",
    "nothing": None,
    "object": {"inner": 1},
    "objects": [{"a": 1}, "b"],
    "texts": ["a", 2],
}


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda f: f.text("text"), "abc"),
        (lambda f: f.text("absent", "kept"), "kept"),
        (lambda f: f.text("nothing", "kept"), "kept"),
        (lambda f: f.number("whole", low=0, high=3), 3),
        (lambda f: f.integer("absent", 7, low=0, high=9), 7),
        (lambda f: f.flag("absent", default=False), False),
        (lambda f: f.choice(Colour, "colour"), Colour.RED),
        (lambda f: f.choice(Colour, "absent", Colour.BLUE), Colour.BLUE),
        (lambda f: f.mapping("object"), {"inner": 1}),
        (lambda f: f.mapping("absent"), {}),
        (lambda f: f.items("absent"), ()),
        (lambda f: f.texts("absent"), ()),
        (lambda f: f.has("nothing"), False),
    ],
)
def test_members_are_read_by_type(read: Callable[[Fields], Any], value: Any) -> None:
    assert read(Fields(BODY)) == value


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda f: f.text("absent"), "at.absent: required"),
        (lambda f: f.text("whole"), "at.whole: 3: want a string"),
        (lambda f: f.text("text", longest=2), "at.text: 'abc': want at most 2 characters, not 3"),
        (lambda f: f.number("flag", low=0, high=1), "at.flag: True: want a number"),
        (lambda f: f.number("number", low=2, high=3), "at.number: 1.5: want 2 to 3"),
        (lambda f: f.integer("number", low=0, high=3), "at.number: 1.5: want a whole number"),
        (lambda f: f.flag("whole"), "at.whole: 3: want true or false"),
        (lambda f: f.choice(Colour, "text"), "at.text: 'abc': want one of red, blue"),
        (lambda f: f.mapping("texts"), "at.texts: ['a', 2]: want an object"),
        (lambda f: f.child("absent"), "at.absent: required"),
        (lambda f: f.items("objects"), "at.objects[1]: 'b': want an object"),
        (lambda f: f.items("object"), "at.object: {'inner': 1}: want a list"),
        (lambda f: f.items("objects", most=1), "at.objects: '2 entries': want at most 1"),
        (lambda f: f.texts("texts"), "at.texts[1]: 2: want a string"),
    ],
)
def test_a_fault_names_path_value_and_want(read: Callable[[Fields], Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(Fields(BODY, "at"))
    assert (caught.value.message, caught.value.reason) == (message, "InvalidRequest")


def test_what_is_shown_of_a_value_is_short() -> None:
    assert len(shown("x" * 1000)) == 80
