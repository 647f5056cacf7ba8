"""Translation of kubectl command lines into the abstract grammar, token by token."""

from __future__ import annotations

from typing import Final

_ROLLOUT: Final = {"restart": "restart", "undo": "rollback"}
_VERBS: Final = {
    "delete": "delete",
    "get": "get",
    "describe": "get",
    "scale": "scale",
    "autoscale": "scale",
    "patch": "patch",
    "edit": "patch",
    "label": "patch",
    "annotate": "patch",
    "taint": "patch",
    "apply": "apply",
    "create": "create",
    "replace": "replace",
    "exec": "exec",
    "attach": "attach",
    "port-forward": "port-forward",
    "logs": "log",
}
_FIELDS: Final = {"label": "metadata.labels", "annotate": "metadata.annotations"}
_POD_VERBS: Final = frozenset({"exec", "attach", "port-forward", "logs"})
_IGNORED: Final = frozenset(
    {
        "--force",
        "--now",
        "--wait",
        "--cascade",
        "--grace-period",
        "--ignore-not-found",
        "--overwrite",
        "-it",
        "-i",
        "-t",
        "--tail",
        "--follow",
        "--previous",
        "--timeout",
    }
)
_VALUED: Final = {"-n": "namespace", "--namespace": "namespace", "-l": "labels", "--selector": "labels"}


def translate(words: list[str]) -> list[str] | None:
    """Return the tokens of the operation that a command performs, or None where it has no single one.

    Args:
        words: The command line without `kubectl`.
    """
    if words[:2] == ["config", "use-context"]:
        return ["authenticate", "external-credentials"]
    if not words:
        return None
    verb, rest, field = _verb(words)
    if verb is None:
        return None
    read = _arguments([word for word in rest if word != "-f"] if words[0] == "logs" else rest)
    if read is None:
        return None
    targets, qualifiers = read
    target = _target(targets, pods=words[0] in _POD_VERBS)
    if target is None:
        return None
    return [verb, target, *qualifiers, *([field] if field else [])]


def _verb(words: list[str]) -> tuple[str | None, list[str], str]:
    if words[0] == "rollout":
        return _ROLLOUT.get(words[1]) if len(words) > 1 else None, words[2:], ""
    if words[0] == "set" and len(words) > 1:
        return "patch", words[2:], words[1]
    return _VERBS.get(words[0]), words[1:], _FIELDS.get(words[0], "")


def _arguments(words: list[str]) -> tuple[list[str], list[str]] | None:
    """Split arguments into targets and qualifiers; None for a flag whose meaning is not known."""
    targets: list[str] = []
    qualifiers: list[str] = []
    index = 0
    while index < len(words) and words[index] != "--":
        word = words[index]
        flag, equals, value = word.partition("=")
        if not word.startswith("-"):
            targets.append(word)
        elif flag in _VALUED:
            index += 0 if equals else 1
            value = value if equals else (words[index] if index < len(words) else "")
            qualifiers.append(f"{_VALUED[flag]}={value.replace('==', '=').replace('=', ':')}")
        elif flag == "--replicas":
            qualifiers.append(f"replicas={value}")
        elif flag == "--all":
            qualifiers.append("all")
        elif flag not in ("-A", "--all-namespaces") and flag not in _IGNORED:
            return None
        index += 1
    return targets, qualifiers


def _target(targets: list[str], *, pods: bool) -> str | None:
    if not targets:
        return None
    first = targets[0]
    if pods:
        return first if "/" in first else f"pod/{first}"
    if "/" in first or first == "*":
        return first if len(targets) == 1 or "=" in targets[1] else None
    named = [word for word in targets[1:] if "=" not in word]
    if len(named) > 1:
        return None
    return f"{first}/{named[0]}" if named else first
