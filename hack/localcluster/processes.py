"""Starts programs in sessions of their own and finds them by records that reused ids cannot fool."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Record:
    """A started process.

    Its id alone may be somebody else's by now; with its start time (clock ticks since boot) it is unique.
    """

    pid: int
    started: int
    boot: str
    argv: tuple[str, ...]


def start_ticks(stat: str) -> int | None:
    """When the process of a /proc/PID/stat text started, in ticks since boot; None for a zombie."""
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else int(fields[19])


def _ticks_of(pid: int) -> int | None:
    try:
        return start_ticks(Path(f"/proc/{pid}/stat").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_dead(pid: int) -> bool:
    """Whether no such process lives, even if its entry is still there."""
    return _ticks_of(pid) is None


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


class Processes:
    """The running programs of the cluster, known by their records on disk."""

    def __init__(self, records: Path, logs: Path) -> None:
        """Keep records and logs in these folders, which are made when needed."""
        self._records = records
        self._logs = logs

    def start(self, name: str, argv: Sequence[str | Path], env: Mapping[str, str] | None = None) -> None:
        """Start a program unless it runs; one that runs with other arguments is replaced.

        The log of an earlier run is kept as NAME.log.1.
        """
        words = tuple(str(part) for part in argv)
        if self.is_running(name):
            record = self._read(name)
            if record is not None and record.argv == words:
                return
            self.stop(name)
        self._records.mkdir(parents=True, exist_ok=True)
        self._logs.mkdir(parents=True, exist_ok=True)
        log = self.log(name)
        if log.exists():
            log.replace(log.with_name(f"{log.name}.1"))
        with log.open("w") as output:
            process = subprocess.Popen(
                words,
                env={**os.environ, **(env or {})},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        record = Record(process.pid, _ticks_of(process.pid) or 0, _boot_id(), words)
        # The process outlives this program on purpose, so its handle must not complain about that.
        process.returncode = 0
        self._file(name).write_text(json.dumps(asdict(record)))

    def is_running(self, name: str) -> bool:
        """Whether the recorded process, and no other with its id, is alive."""
        record = self._read(name)
        return record is not None and record.boot == _boot_id() and _ticks_of(record.pid) == record.started

    def pid(self, name: str) -> int | None:
        """The id of the running process; None when it does not run."""
        record = self._read(name)
        return record.pid if record is not None and self.is_running(name) else None

    def stop(self, name: str, grace_seconds: float = 10.0) -> bool:
        """End a process, by force after the grace time, and drop its record; True when it was running."""
        pid = self.pid(name)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
                deadline = time.monotonic() + grace_seconds
                while self.is_running(name):
                    if time.monotonic() > deadline:
                        os.kill(pid, signal.SIGKILL)
                    _reap(pid)
                    time.sleep(_POLL_SECONDS)
        self._file(name).unlink(missing_ok=True)
        return pid is not None

    def log(self, name: str) -> Path:
        """Where a program's output goes."""
        return self._logs / f"{name}.log"

    def last_lines(self, name: str, count: int = 5) -> str:
        """The end of a program's log, for a message."""
        log = self.log(name)
        return "\n  ".join(log.read_text(errors="replace").splitlines()[-count:]) if log.exists() else ""

    def _file(self, name: str) -> Path:
        return self._records / f"{name}.json"

    def _read(self, name: str) -> Record | None:
        """The record of a program; None when there is none, or only a half-written one."""
        try:
            fields = json.loads(self._file(name).read_text())
            return Record(fields["pid"], fields["started"], fields["boot"], tuple(fields["argv"]))
        except (FileNotFoundError, ValueError, KeyError):
            return None


def _reap(pid: int) -> None:
    """Collect the exit status where the process happens to be our child."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
