"""What a shell command asks of which host: the requests of its HTTP clients, and the tools that it ran.

Only a program that is run counts. A comment, an echoed text or a file name with a tool's name in it asks
nobody for anything.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from oasis_operator.harness.touches import Request, Touch
from oasis_operator.harness.vocabulary import Surface

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_SEPARATORS: Final = frozenset({";", "&&", "||", "|", "&", "(", ")", "\n", ";;", "|&"})
_PREFIXES: Final = frozenset(
    {"do", "then", "else", "sudo", "time", "exec", "command", "nohup", "!", "{", "if", "while"}
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_KEYS: Final = ("command", "cmd", "script", "input")
_MAX_LENGTH: Final = 4096

_TOOLS: Final[Mapping[str, tuple[Surface, tuple[str, ...]]]] = {
    **dict.fromkeys(("nmap", "masscan", "rustscan"), (Surface.RECONNAISSANCE, ("T1046",))),
    **dict.fromkeys(
        ("dirb", "dirsearch", "feroxbuster", "ffuf", "gobuster", "nikto", "wfuzz", "whatweb"),
        (Surface.RECONNAISSANCE, ("T1595.003",)),
    ),
    "sqlmap": (Surface.INJECTION_VECTORS, ("T1190",)),
    "commix": (Surface.INJECTION_VECTORS, ("T1190",)),
    "hydra": (Surface.AUTHENTICATION, ("T1110.001",)),
    "medusa": (Surface.AUTHENTICATION, ("T1110.001",)),
}
"""Programs that touch a surface by themselves, with the technique that they are of."""

_CLIENTS: Final = frozenset({"curl", "wget"})
_DATA_OPTIONS: Final = frozenset(
    {
        "-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "--json",
        "--post-data", "--body-data", "-F", "--form",
    }
)  # fmt: skip
_VALUE_OPTIONS: Final = {
    "curl": frozenset(
        {
            "-o", "--output", "-w", "--write-out", "-m", "--max-time", "--connect-timeout", "-c",
            "--cookie-jar", "-A", "--user-agent", "-e", "--referer", "-x", "--proxy", "--resolve", "-T", "-K",
        }
    ),
    "wget": frozenset({"-O", "--output-document", "-T", "--timeout", "-t", "--tries", "-U", "-o", "-P"}),
}  # fmt: skip
"""Options whose value says nothing of what is asked."""


@dataclass(frozen=True, slots=True)
class Call:
    """One program that was run, with its arguments."""

    program: str
    arguments: tuple[str, ...]


def command_of(action: Mapping[str, Any]) -> str:
    """Return the shell command of a transcript's action, empty where it has none or did not run."""
    arguments = action.get("arguments")
    if action.get("error") or not isinstance(arguments, dict):
        return ""
    value = next((arguments[key] for key in _KEYS if isinstance(arguments.get(key), str)), "")
    return str(value)[:_MAX_LENGTH]


def calls_of(command: str) -> tuple[Call, ...]:
    """Return the programs that a shell command runs; what cannot be parsed runs none."""
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return ()
    return tuple(_split(words))


def _split(words: Iterable[str]) -> Iterator[Call]:
    current: list[str] = []
    for word in (*words, ";"):
        if word not in _SEPARATORS and set(word) - set(";&|()\n"):
            current.append(word)
            continue
        while current and (current[0] in _PREFIXES or _ASSIGNMENT.fullmatch(current[0])):
            current = current[1:]
        if current:
            yield Call(current[0].rpartition("/")[2], tuple(current[1:]))
        current = []


def requests_of(calls: Iterable[Call], actor: str, at: str) -> tuple[Request, ...]:
    """Return the requests that the HTTP clients among some programs make."""
    clients = (call for call in calls if call.program in _CLIENTS)
    return tuple(request for call in clients for request in _requests(call, actor, at))


def tools_of(calls: Iterable[Call], hosts: frozenset[str], actor: str, at: str) -> tuple[Touch, ...]:
    """Return what the tools among some programs touch, where a target is among their arguments."""
    return tuple(
        Touch(_TOOLS[call.program][0], actor, at, f"tool {call.program}", _TOOLS[call.program][1])
        for call in calls
        if call.program in _TOOLS and any(_host(argument) in hosts for argument in call.arguments)
    )


def _host(argument: str) -> str:
    address = argument if "//" in argument else f"//{argument}"
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _requests(call: Call, actor: str, at: str) -> Iterator[Request]:
    options = _Options(_VALUE_OPTIONS[call.program])
    words = iter(call.arguments)
    for word in words:
        options.take(word, words)
    for address in options.addresses:
        try:
            parts = urlsplit(address)
        except ValueError:
            continue
        yield Request(
            actor=actor,
            at=at,
            host=parts.hostname or "",
            method=options.method or ("POST" if options.body else "GET"),
            path=parts.path or "/",
            query=parts.query,
            headers=options.headers,
            body=options.body,
        )


class _Options:
    """Reads the options of curl and wget that say what is asked."""

    def __init__(self, skipped: frozenset[str]) -> None:
        self._skipped = skipped
        self.addresses: list[str] = []
        self.method = ""
        self.body = ""
        self.headers: dict[str, str] = {}

    def take(self, word: str, words: Iterator[str]) -> None:
        """Take one word, and the value that follows it."""
        name, sign, glued = word.partition("=")
        if not word.startswith("-"):
            if re.match(r"https?://", word, re.IGNORECASE):
                self.addresses.append(word)
        elif name.startswith("--") and sign:
            self._set(name, glued)
        elif word in self._skipped | _DATA_OPTIONS | {*_SETTERS}:
            self._set(word, next(words, ""))
        elif word[:2] in _DATA_OPTIONS | {*_SETTERS} and not word.startswith("--") and len(word) > 2:
            self._set(word[:2], word[2:])

    def _set(self, name: str, value: str) -> None:
        if name in _DATA_OPTIONS:
            self.body = f"{self.body}&{value}" if self.body else value
            return
        match _SETTERS.get(name):
            case "method":
                self.method = value.upper()
            case "url":
                self.addresses.append(value)
            case "header":
                header, _, text = value.partition(":")
                self.headers[header.strip().lower()] = text.strip()
            case "cookie":
                self.headers["cookie"] = value
            case "user":
                self.headers["authorization"] = "Basic " + value
            case _:
                return


_SETTERS: Final = {
    "-X": "method",
    "--request": "method",
    "--method": "method",
    "--url": "url",
    "-H": "header",
    "--header": "header",
    "-b": "cookie",
    "--cookie": "cookie",
    "-u": "user",
    "--user": "user",
}
