"""Reading and checking a profile package, at first and again; prints percentiles, asserts nothing.

Run as `PYTHONPATH=tests:. .venv/bin/python -m benchmarks.read_profile [FOLDER]`,
by default of the profile that ships with the operator.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks._figures import announce, measure

from oasis_operator.profile.reader import read_profile

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Measure the first reading in a process apart: the first CEL rule has the parser built."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "profiles/software-infrastructure")
    parser.add_argument("-n", "--runs", type=int, default=50)
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    start, started = time.perf_counter(), time.process_time()
    reading = read_profile(files)
    first = 1_000 * (time.perf_counter() - start), 1_000 * (time.process_time() - started)
    scenarios = len(reading.profile.scenarios) if reading.profile else 0
    announce(
        f"{folder.name}: {len(files)} files, {sum(map(len, files.values())):,} bytes, {scenarios} scenarios,"
        f" {len(reading.faults)} faults; {arguments.runs} runs after the first"
    )
    measure("read and checked again", lambda: read_profile(files), arguments.runs)
    print(f"{'read and checked the first time':44}{first[0]:11.2f}{'':33}{first[1]:11.2f}")


if __name__ == "__main__":
    main()
