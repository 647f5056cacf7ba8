"""How recordings lie on disk: without loss, but with nothing written twice.

A recording is a file of its own. Members that all its audit events share stand once under `common`, those that all
events of one stage share under `by_stage`, and those that the stages of one request share in its entry of `calls`,
beside the `stages`. Objects stand in `objects.json` under digests of theirs. A recording names those by which the
state before the operation differs from `usual`, which stands there too, and the state after it from that before;
a user is a place in `users`.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RECORDINGS = HERE / "recordings"
OBJECTS = HERE / "objects.json"
STATES = ("before", "after")
_KEPT = ("stage", "auditID", "seq")

Recording = dict[str, Any]


def load() -> tuple[dict[str, Any], dict[str, Recording]]:
    """Return all objects by digest and all recordings by name, as the recorder made them."""
    if not OBJECTS.exists():
        return {}, {}
    shelf = json.loads(OBJECTS.read_text())
    recordings = {path.stem: json.loads(path.read_text()) for path in sorted(RECORDINGS.glob("*.json"))}
    usual = set(shelf["usual"])
    return shelf["objects"], {name: _unpacked(one, usual, shelf["users"]) for name, one in recordings.items()}


def save(objects: dict[str, Any], recordings: dict[str, Recording]) -> None:
    """Write all recordings, and drop objects and files that belong to none of them."""
    RECORDINGS.mkdir(exist_ok=True)
    counts = Counter(digest for one in recordings.values() for state in STATES for digest in one[state])
    usual = {digest for digest, count in counts.items() if count > len(recordings)}
    for path in RECORDINGS.glob("*.json"):
        if path.stem not in recordings:
            path.unlink()
    users: list[Any] = []
    for name, one in recordings.items():
        _write(RECORDINGS / f"{name}.json", _packed(one, usual, users))
    kept = {digest: objects[digest] for digest in sorted(counts)}
    _write(OBJECTS, {"usual": sorted(usual), "users": users, "objects": kept})


def _packed(recording: Recording, usual: set[str], users: list[Any]) -> Recording:
    before, after = set(recording["before"]), set(recording["after"])
    common, rest = _hoisted(recording["entries"], _KEPT)
    if "user" in common:
        user = common["user"]
        if user not in users:
            users.append(user)
        common["user"] = users.index(user)
    stages: dict[str, list[Any]] = {}
    for entry in rest:
        stages.setdefault(entry["stage"], []).append(entry)
    by_stage: dict[str, Any] = {}
    for stage, entries in stages.items():
        by_stage[stage], stages[stage] = _hoisted(entries, _KEPT)
    calls: dict[str, list[Any]] = {}
    for entry in sorted((entry for entries in stages.values() for entry in entries), key=_place):
        calls.setdefault(entry["auditID"], []).append(entry)
    hoisted = [_hoisted(entries, ("stage", "seq")) for entries in calls.values()]
    return {
        **{key: value for key, value in recording.items() if key != "entries"},
        "before": {"without": sorted(usual - before), "with": sorted(before - usual)},
        "after": {"without": sorted(before - after), "with": sorted(after - before)},
        "common": common,
        "by_stage": by_stage,
        "calls": [{**shared, "stages": entries} for shared, entries in hoisted],
    }


def _unpacked(packed: Recording, usual: set[str], users: list[Any]) -> Recording:
    recording = {key: value for key, value in packed.items() if key not in ("common", "by_stage", "calls")}
    state = usual
    common = {**packed["common"]}
    if "user" in common:
        common["user"] = users[common["user"]]
    for name in STATES:
        state = (state - set(packed[name]["without"])) | set(packed[name]["with"])
        recording[name] = sorted(state)
    entries = [
        {**common, **packed["by_stage"][entry["stage"]], **shared, **entry}
        for call in packed["calls"]
        for shared in [{key: value for key, value in call.items() if key != "stages"}]
        for entry in call["stages"]
    ]
    recording["entries"] = sorted(entries, key=_place)
    return recording


def _place(entry: Any) -> int:
    return int(entry["seq"])


def _hoisted(entries: list[Any], kept: tuple[str, ...]) -> tuple[dict[str, Any], list[Any]]:
    """Return what all entries share but for some members, and the entries without it."""
    common = {
        key: value
        for key, value in (entries[0] if entries else {}).items()
        if key not in kept and all(key in one and one[key] == value for one in entries)
    }
    return common, [{key: value for key, value in one.items() if key not in common} for one in entries]


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, separators=(",", ":"), ensure_ascii=False) + "\n")
