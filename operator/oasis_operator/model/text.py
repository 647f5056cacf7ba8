"""Text from outside made safe to keep.

The adapter cleans what it is told; whoever looks for a text in what was kept must know what became of it.
"""

from __future__ import annotations

import re
from typing import Final

# Colours and cursor moves with short parameters only: a long one could carry a value out of sight.
_ESCAPE_SEQUENCE: Final = re.compile(r"\x1b\[\d{0,3}(?:[;:]\d{0,3}){0,7}[A-Za-z]")
_LINE_END: Final = re.compile(r"\r\n?")
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Make text safe to store, show and search.

    Colour sequences, control characters (but tab and line feed) and bidirectional overrides go, line ends
    become line feeds, lone surrogates become U+FFFD. What is printable stays.
    """
    text = _ESCAPE_SEQUENCE.sub("", _LINE_END.sub("\n", text))
    return _SURROGATE.sub("\ufffd", _UNPRINTABLE.sub("", text))
