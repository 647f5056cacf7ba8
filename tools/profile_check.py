"""Run every witness of a profile's scenarios, and an agent that does nothing, against a real API server.

Prints a line for each: what had to come of it, what came, and how long its world took to prepare. Each has a
world of its own, made of plain processes. `--variants` adds what changes the way of a script and not its end,
`--controls` plays agents whose outcome is known beforehand instead.
"""

from __future__ import annotations

import argparse
import asyncio
import fnmatch
import importlib.util
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from kit.builders.profiles import a_profile, files_below  # noqa: E402 - the path above leads there
from kit.control_agents import Control, ControlCase, controls_of  # noqa: E402
from kit.rehearsal import NotPrepared, rehearse  # noqa: E402
from kit.witness_cases import WitnessCase, cases_of, outcome, variants_of  # noqa: E402

if TYPE_CHECKING:
    from oasis_operator.model.profile import Profile

LINE = "{:<52} {:<44} {:<14} {:<16} {:>6}"


def _nested() -> Any:
    spec = importlib.util.spec_from_file_location("world_nested", ROOT / "tests/integration/world/nested.py")
    if spec is None or spec.loader is None:
        raise SystemExit("tests/integration/world/nested.py cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules["world_nested"] = module
    spec.loader.exec_module(module)
    return module


def _chosen(profile: Profile, globs: list[str], variants: bool) -> list[WitnessCase]:
    found = []
    for scenario in profile.scenarios:
        if not any(fnmatch.fnmatch(scenario.id, glob) for glob in globs):
            continue
        for case in cases_of(profile, scenario.id):
            found += [case, *(variants_of(case) if variants else ())]
    return found


def _controls(profile: Profile, globs: list[str]) -> list[ControlCase]:
    return [
        control
        for scenario in profile.scenarios
        if any(fnmatch.fnmatch(scenario.id, glob) for glob in globs)
        for control in controls_of(profile, scenario.id)
    ]


def _check(
    nested: Any, programs: Path, profile: Profile, case: WitnessCase, control: ControlCase | None = None
) -> tuple[str, str, str, float]:
    """Return outcome, fault, details and seconds of one case."""
    with tempfile.TemporaryDirectory(prefix="w") as folder:
        world = nested.Nested(Path(folder), programs)
        try:
            world.start()
            rehearsal = asyncio.run(rehearse(world, profile, case.scenario, case.script, control))
        except NotPrepared as refusal:
            return "NOT PREPARED", "its world cannot be made", str(refusal), 0.0
        except Exception:  # noqa: BLE001 - one case that breaks is told like one that fails
            return "BROKEN", "it broke", traceback.format_exc(), 0.0
        finally:
            world.stop_processes()
    details = f"requests: {', '.join(rehearsal.codes)}\n{case.told(rehearsal.result)}"
    return outcome(rehearsal.result), case.fault(rehearsal.result), details, rehearsal.seconds


def _print(
    case: WitnessCase, found: tuple[str, str, str, float], verbose: bool, control: Control | None
) -> None:
    came, fault, details, seconds = found
    name = str(control or f"{case.witness.name} {case.variant and '+ ' + case.variant}".strip())
    mark = "" if not fault else "  <-- " + fault
    print(LINE.format(case.scenario.id, name, case.expected, came, f"{seconds:.1f}") + mark, flush=True)
    if fault or verbose:
        print("    " + details.replace("\n", "\n    "), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("profile", type=Path, nargs="?", default=ROOT / "profiles/software-infrastructure")
    parser.add_argument("--only", action="append", metavar="GLOB", help="scenarios to check; all by default")
    parser.add_argument("--variants", action="store_true", help="check variants of the witnesses, too")
    parser.add_argument("--controls", action="store_true", help="play the control agents instead")
    parser.add_argument("-j", "--at-once", type=int, default=2, metavar="N", help="worlds at a time")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell how each assertion came out")
    return parser.parse_args()


def main() -> int:
    """Check the chosen scenarios; 1 where a witness came out otherwise than it must."""
    chosen = _arguments()
    profile, nested = a_profile(files_below(chosen.profile)), _nested()
    globs = chosen.only or ["*"]
    controls = _controls(profile, globs) if chosen.controls else []
    cases = [one.case for one in controls] or _chosen(profile, globs, chosen.variants)
    with tempfile.TemporaryDirectory(prefix="p") as folder:
        programs = Path(folder)
        missing = nested.find_programs(programs)
        if missing or not nested.build_launcher(programs):
            print(f"not built: {', '.join(missing) or 'the launcher'}; run `make binaries`", file=sys.stderr)
            return 2
        nested.make_seed(programs)
        print(LINE.format("SCENARIO", "WITNESS", "EXPECTED", "GOT", "SECS"))
        failed = 0
        with ThreadPoolExecutor(chosen.at_once) as pool:
            players: list[ControlCase | None] = [*controls] or [None] * len(cases)
            asked = list(zip(cases, players, strict=True))
            results = pool.map(lambda pair: _check(nested, programs, profile, *pair), asked)
            for (case, control), found in zip(asked, results, strict=True):
                _print(case, found, chosen.verbose, control.control if control else None)
                failed += bool(found[1])
    if controls:
        print(f"{len(controls)} control agents in scenarios, {failed} of them not as deserved")
        return 1 if failed else 0
    plain = sum(not case.variant for case in cases)
    print(f"{plain} witnesses and {len(cases) - plain} variants, {failed} of them not as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
