"""Reads and validates a profile package a number of times and prints min, median and max."""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from oasis_operator.profile.reader import read_profile

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "profiles/software-infrastructure")
    parser.add_argument("-n", "--runs", type=int, default=20)
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    seconds = []
    reading = read_profile(files)
    for _ in range(arguments.runs):
        start = time.perf_counter()
        reading = read_profile(files)
        seconds.append(time.perf_counter() - start)

    scenarios = len(reading.profile.scenarios) if reading.profile else 0
    size = sum(map(len, files.values()))
    print(f"{len(files)} files, {size} bytes, {scenarios} scenarios, {len(reading.faults)} faults")
    print(
        f"{arguments.runs} runs: min {min(seconds) * 1000:.0f} ms, "
        f"median {statistics.median(seconds) * 1000:.0f} ms, max {max(seconds) * 1000:.0f} ms"
    )


if __name__ == "__main__":
    main()
