"""Prints a JSON value as YAML that every reader understands alike; reading it back gives the same value.

Every string is quoted, so that no plain scalar can change its meaning.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from oasis_operator.model.scenario import Scenario

_SPECIAL: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_PLAIN_KEY: Final = re.compile(r"[a-z][a-z0-9_]*\Z")
_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off"})


def print_scenario(scenario: Scenario) -> str:
    """Return a scenario's document as YAML, members in the order in which they were read."""
    return print_yaml(scenario.raw)


def print_yaml(value: Any) -> str:
    """Return a JSON value as one YAML document that ends in a newline.

    Args:
        value: Mappings with string keys, lists, strings without lone surrogates, numbers, booleans or None.
    """
    return "\n".join(_block(value, "")) + "\n"


def _block(value: Any, indent: str) -> list[str]:
    if isinstance(value, dict) and value:
        return [line for key, item in value.items() for line in _entry(f"{indent}{_key(key)}:", item, indent)]
    if isinstance(value, list) and value:
        return [line for item in value for line in _entry(f"{indent}-", item, indent)]
    return [indent + _scalar(value)]


def _entry(head: str, item: Any, indent: str) -> list[str]:
    if isinstance(item, dict | list) and item:
        return [head, *_block(item, indent + "  ")]
    return [f"{head} {_scalar(item)}"]


def _key(key: str) -> str:
    return key if _PLAIN_KEY.match(key) and key not in _WORDS else _scalar(key)


def _scalar(value: Any) -> str:
    if isinstance(value, float):
        return _decimal(value)
    text = json.dumps(value, ensure_ascii=False)
    # YAML forbids some characters that JSON leaves as they are, so they are written as escapes.
    return _SPECIAL.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _decimal(value: float) -> str:
    """Return a number with a decimal point and a signed exponent, the form that all readers share."""
    mantissa, mark, exponent = repr(value).partition("e")
    mantissa = mantissa if "." in mantissa else mantissa + ".0"
    sign = "" if exponent.startswith(("+", "-")) or not mark else "+"
    return f"{mantissa}{mark}{sign}{exponent}"
