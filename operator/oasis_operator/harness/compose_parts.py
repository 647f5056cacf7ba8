"""The members of a compose service, each in the several spellings that compose files have for it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import yaml

from oasis_operator.harness.problems import Problem, point, show

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONDITIONS: Final = {
    "service_started": "started",
    "service_healthy": "healthy",
    "service_completed_successfully": "completed",
}
_DURATION: Final = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")
_LAST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class Healthcheck:
    """How a service tells that it is ready: a command, and seconds between, for and before its tries."""

    command: tuple[str, ...]
    interval_seconds: float = 30
    timeout_seconds: float = 30
    retries: int = 3
    start_seconds: float = 0


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder that is empty at first; `name` is that of a volume or empty, `in_memory` a tmpfs."""

    path: str
    name: str = ""
    in_memory: bool = False
    read_only: bool = False


@dataclass(slots=True)
class Reader:
    """Keeps every problem, so that all are told at once."""

    problems: list[Problem] = field(default_factory=list)

    def fault(self, place: str, code: str, message: str) -> None:
        """Keep a problem."""
        self.problems.append(Problem(place, code, message))

    def mapping(self, value: object, place: str) -> dict[Any, Any]:
        """Return an object; anything else is a problem and empty."""
        if isinstance(value, dict):
            return value
        self.fault(place, "type", f"{show(value)}: want an object")
        return {}


@dataclass(frozen=True, slots=True)
class At:
    """The members of one service and where they stand."""

    reader: Reader
    members: Mapping[Any, Any]
    place: str

    def get(self, name: str) -> Any:
        """Return a member as it stands, None where it is absent."""
        return self.members.get(name)

    def fault(self, name: str, message: str, *, code: str = "type") -> None:
        """Keep a problem with a member."""
        self.reader.fault(self.place + point(name), code, message)

    def text(self, name: str) -> str:
        """Return a text, empty where it is absent; a number is taken for its digits."""
        value = self.get(name)
        if value is None or isinstance(value, str):
            return value or ""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        self.fault(name, f"{show(value)}: want a text")
        return ""

    def listed(self, name: str) -> list[Any]:
        """Return a list, empty where it is absent; a single scalar is a list of one."""
        value = self.get(name)
        if value is None:
            return []
        if isinstance(value, dict):
            self.fault(name, f"{show(value)}: want a list")
            return []
        return value if isinstance(value, list) else [value]


def load_mapping_once(data: bytes) -> object:
    """Load YAML in which no key stands twice in one object.

    Raises:
        ValueError: A key does.
        yaml.YAMLError: It is no YAML, or has a tag beyond plain values.
    """
    pending = [yaml.compose(data, Loader=yaml.SafeLoader)]
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            twice = [str(key) for key in keys if keys.count(key) > 1]
            if twice:
                line = node.start_mark.line + 1
                raise ValueError(f"{twice[0]!r} stands twice in the object at line {line}: remove one")
            pending += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            pending += node.value
    return yaml.safe_load(data)


def read_build(at: At) -> str:
    """Return the folder that an image is built from, empty where there is none."""
    value = at.get("build")
    if isinstance(value, dict):
        value = value.get("context", ".")
    if value is None or isinstance(value, str):
        return value or ""
    at.fault("build", f"{show(value)}: want a folder")
    return ""


def read_names(at: At, name: str) -> tuple[str, ...]:
    """Return names in capitals, sorted."""
    return tuple(sorted({str(entry).upper().removeprefix("CAP_") for entry in at.listed(name)}))


def read_networks(at: At) -> dict[str, tuple[str, ...]]:
    """Return the networks with the aliases in each; `default` where none is named."""
    value = at.get("networks")
    if not isinstance(value, dict):
        return {str(name): () for name in at.listed("networks")} or {"default": ()}
    found = {}
    for name, body in value.items():
        aliases = (body or {}).get("aliases", ()) if isinstance(body or {}, dict) else None
        if not isinstance(aliases, list | tuple):
            at.fault("networks", f"{show(body)}: want an object with aliases")
            aliases = ()
        found[str(name)] = tuple(str(alias) for alias in aliases)
    return found


def read_dependencies(at: At) -> dict[str, str]:
    """Return the services that come first, with what is waited for."""
    value = at.get("depends_on")
    if not isinstance(value, dict):
        return {str(name): "started" for name in at.listed("depends_on")}
    found = {}
    for name, body in value.items():
        condition = body.get("condition", "service_started") if isinstance(body, dict) else None
        if condition not in _CONDITIONS:
            at.fault("depends_on", f"{show(condition)}: want one of {', '.join(_CONDITIONS)}")
        found[str(name)] = _CONDITIONS.get(str(condition), "started")
    return found


def read_environment(at: At) -> dict[str, str]:
    """Return the variables; one without a value, which compose takes from its own, is refused."""
    value = at.get("environment")
    pairs = value.items() if isinstance(value, dict) else _split(at.listed("environment"))
    found = {}
    for name, text in pairs:
        if text is None:
            at.fault("environment", f"{name} has no value: write one", code="value")
        elif isinstance(text, bool):
            found[str(name)] = str(text).lower()
        else:
            found[str(name)] = str(text)
    return found


def _split(entries: list[Any]) -> list[tuple[str, str | None]]:
    parted = [str(entry).partition("=") for entry in entries]
    return [(name, value if sign else None) for name, sign, value in parted]


def read_words(at: At, name: str) -> tuple[str, ...] | None:
    """Return a command as words, None where it is absent; a text is split as a shell does."""
    value = at.get(name)
    if value is None:
        return None
    if isinstance(value, list):
        return tuple(str(word) for word in value)
    try:
        return tuple(shlex.split(str(value)))
    except ValueError as fault:
        at.fault(name, f"{show(value)}: {fault}")
        return None


def read_ports(at: At) -> tuple[int, ...]:
    """Return the container's TCP ports, whether they are published or only exposed."""
    found = set()
    for name in ("ports", "expose"):
        for entry in at.listed(name):
            found |= _ports(at, name, entry)
    return tuple(sorted(found))


def _ports(at: At, name: str, entry: object) -> set[int]:
    """Read `8080:80`, `127.0.0.1:80:80/tcp`, `8000-8002` or the long form."""
    text = str(entry.get("target", "")) if isinstance(entry, dict) else str(entry)
    protocol = entry.get("protocol", "tcp") if isinstance(entry, dict) else text.partition("/")[2] or "tcp"
    if protocol != "tcp":
        at.fault(name, f"{show(text)}: {protocol} is not carried over; only tcp is", code="protocol")
        return set()
    low, _, high = text.partition("/")[0].rpartition(":")[2].partition("-")
    if not low.isdecimal() or not (high or low).isdecimal():
        at.fault(name, f"{show(text)}: want a port such as 80 or 8080:80")
        return set()
    first, last = int(low), int(high or low)
    if not 1 <= first <= last <= _LAST_PORT or last - first > 100:
        at.fault(name, f"{show(text)}: want ports from 1 to {_LAST_PORT}, at most 100 at once")
        return set()
    return set(range(first, last + 1))


def read_mounts(at: At) -> tuple[Mount, ...]:
    """Return the folders that a service writes to; folders of the machine are refused."""
    found = [Mount(path=str(path).partition(":")[0], in_memory=True) for path in at.listed("tmpfs")]
    for entry in at.listed("volumes"):
        mount = _long_mount(at, entry) if isinstance(entry, dict) else _short_mount(at, str(entry))
        found += [mount] if mount else []
    return tuple(found)


def _short_mount(at: At, text: str) -> Mount | None:
    source, _, rest = text.partition(":")
    if not rest:
        return Mount(path=source)
    path, _, mode = rest.partition(":")
    if source.startswith((".", "/", "~")):
        message = f"{show(text)}: a folder of the machine is never mounted; put the files into the image"
        at.fault("volumes", message, code="volume")
        return None
    return Mount(path=path, name=source, read_only="ro" in mode.split(","))


def _long_mount(at: At, entry: Mapping[str, Any]) -> Mount | None:
    kind = entry.get("type", "volume")
    if kind not in ("volume", "tmpfs") or not isinstance(entry.get("target"), str):
        message = f"type {show(kind)}: want volume or tmpfs with a target; files belong into the image"
        at.fault("volumes", message, code="volume")
        return None
    return Mount(
        path=entry["target"],
        name=str(entry.get("source", "")),
        in_memory=kind == "tmpfs",
        read_only=entry.get("read_only") is True,
    )


def read_healthcheck(at: At) -> Healthcheck | None:
    """Return the healthcheck, None where there is none or it is switched off."""
    value = at.get("healthcheck")
    if value is None:
        return None
    body = at.reader.mapping(value, at.place + "/healthcheck")
    command = _test(at, body.get("test"))
    if body.get("disable") is True or command is None:
        return None
    retries = body.get("retries", 3)
    if not isinstance(retries, int) or isinstance(retries, bool) or retries < 1:
        at.fault("healthcheck", f"retries {show(retries)}: want a whole number from 1")
        retries = 3
    return Healthcheck(
        command=command,
        interval_seconds=_seconds(at, body, "interval", 30),
        timeout_seconds=_seconds(at, body, "timeout", 30),
        retries=retries,
        start_seconds=_seconds(at, body, "start_period", 0),
    )


def _test(at: At, value: object) -> tuple[str, ...] | None:
    """Read a healthcheck's test; None for NONE, and for what is none at all."""
    if isinstance(value, str):
        return ("/bin/sh", "-c", value)
    words = [str(word) for word in value] if isinstance(value, list) else []
    match words:
        case ["NONE"]:
            return None
        case ["CMD-SHELL", script]:
            return ("/bin/sh", "-c", script)
        case ["CMD", *command] if command:
            return tuple(command)
        case _:
            at.fault("healthcheck", f"test {show(value)}: want a text, or a list that begins with CMD")
            return None


def _seconds(at: At, body: Mapping[str, Any], name: str, default: float) -> float:
    value = body.get(name)
    if value is None:
        return default
    match = _DURATION.fullmatch(value) if isinstance(value, str) and value else None
    if match is None:
        at.fault("healthcheck", f"{name} {show(value)}: want a duration such as 5s")
        return default
    hours, minutes, seconds, thousandths = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000
