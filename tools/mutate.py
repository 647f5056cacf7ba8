"""Changes the engine in many small ways and tells which of the changes no test and no type notices.

The sources are copied before they are changed: everything happens in dist/mutation, and the checkout stays as
it is. What is mutated, and by which tests, stands in pyproject.toml under [tool.mutmut]; results are kept, so
that a second run takes up only what has changed since.

Run: python tools/mutate.py [--short] [--children N] [--least PERCENT] [--fresh] [MUTANT ...]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
STAGE = ROOT / "dist" / "mutation"
# The mutator takes a module's name from its path below `src`; the source root has another name here.
LINKS = {"src": "operator", **{name: name for name in ("tests", "profiles", "conftest.py")}}

KILLED = "killed"
TYPES = "types"
SLOW = "too slow"
SURVIVED = "survived"
UNTESTED = "no test"
UNDONE = "not run"
# Exit status of the tests under a mutant; those from 33 on are mutmut's own.
_FATES: dict[int | None, str] = {
    **dict.fromkeys((1, 3), KILLED),
    37: TYPES,
    **dict.fromkeys((24, -24, 36, 152, 255), SLOW),
    0: SURVIVED,
    **dict.fromkeys((5, 33), UNTESTED),
    None: UNDONE,
}
NOTICED = (KILLED, TYPES, SLOW)
COLUMNS = (*NOTICED, SURVIVED, UNTESTED)


class Module(NamedTuple):
    """How the mutants of one module fared: its path in the package, and the fate of each mutant by name."""

    name: str
    fates: Mapping[str, str]

    def count(self, *fates: str) -> int:
        """How many mutants had one of these fates."""
        return sum(fate in fates for fate in self.fates.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Mutate, test, and print the result; 1 where less is noticed than asked for, 2 where nothing was run."""
    options = _parser().parse_args(arguments)
    stage = STAGE / ("short" if options.short else "full")
    if options.fresh:
        shutil.rmtree(stage, ignore_errors=True)
    prepare(stage, short=options.short)
    command = [sys.executable, str(ROOT / "tools" / "mutation_loop.py"), f"--children={options.children}"]
    done = subprocess.run([*command, *options.mutants], cwd=stage, env=_surroundings(), check=False)  # noqa: S603 - our own program
    modules = tuple(read_results(stage))
    if done.returncode != 0 or not modules:
        print("the mutants were not run; see above", file=sys.stderr)
        return 2
    print(table(modules))
    for name in survivors(modules):
        print(f"  {name}")
    share = noticed(modules)
    print(f"{share:.1f} % noticed; at least {options.least:g} % are asked for")
    print(f"Look at one:  cd {stage.relative_to(ROOT)} && ../../../.venv/bin/mutmut show NAME")
    return 0 if share >= options.least else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="only what [tool.oasis.mutation-short] names")
    parser.add_argument("--children", type=int, default=2, help="mutants at once (default 2)")
    parser.add_argument("--least", type=float, default=90.0, help="percentage to be noticed (default 90)")
    parser.add_argument("--fresh", action="store_true", help="forget the results of earlier runs")
    parser.add_argument("mutants", nargs="*", help="names or patterns of mutants to look at (default all)")
    return parser


def _surroundings() -> dict[str, str]:
    """Return the environment of a run; the specification lies beside the checkout, not beside the copies."""
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
    found = {"OASIS_SHARED": str(ROOT.parent / "shared"), **os.environ}
    # In CI the same examples are tried each time.
    return {**found, "PATH": path, "MYPYPATH": "src", "CI": "true"}


def prepare(stage: Path, *, short: bool = False) -> None:
    """Write a folder in which the mutator finds sources, tests and configuration where it looks for them."""
    stage.mkdir(parents=True, exist_ok=True)
    for name, target in LINKS.items():
        link = stage / name
        link.unlink(missing_ok=True)
        link.symlink_to(ROOT / target)
    # Copies of tests that are no more would still be run.
    shutil.rmtree(stage / "mutants" / "tests", ignore_errors=True)
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = tomllib.loads(text)["tool"]
    if short:
        text = with_lists(text, settings["oasis"]["mutation-short"])
    _forget_where_settings_changed(stage, text)
    (stage / "pyproject.toml").write_text(text, encoding="utf-8")


def _forget_where_settings_changed(stage: Path, text: str) -> None:
    """Remove copies of another choice of modules: mutmut looks at none again whose source is older."""
    former = stage / "pyproject.toml"
    if former.exists():
        then, now = (
            tomllib.loads(one)["tool"]["mutmut"] for one in (former.read_text(encoding="utf-8"), text)
        )
        if then["only_mutate"] != now["only_mutate"]:
            shutil.rmtree(stage / "mutants" / "src", ignore_errors=True)


def with_lists(text: str, lists: Mapping[str, Sequence[str]]) -> str:
    """Return a pyproject.toml whose [tool.mutmut] has other values for some of its lists."""
    head, mark, tail = text.partition("[tool.mutmut]\n")
    for name, values in lists.items():
        given = f"{name} = {json.dumps(list(values))}\n"
        found = re.search(rf"^{name} = \[.*?\]\n", tail, flags=re.MULTILINE | re.DOTALL)
        if found is None:
            raise SystemExit(f"pyproject.toml: [tool.mutmut] has no list {name!r}; mutation-short names it")
        tail = tail[: found.start()] + given + tail[found.end() :]
    return head + mark + tail


def read_results(stage: Path) -> Iterator[Module]:
    """Yield the modules that have mutants, by path, with the fate of each mutant."""
    root = stage / "mutants" / "src" / "oasis_operator"
    for path in sorted(root.rglob("*.py.meta")):
        codes: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
        name = str(path.relative_to(root)).removesuffix(".meta")
        # Of a module that is no more the results are still there.
        if codes and (ROOT / "operator" / "oasis_operator" / name).exists():
            yield Module(name, {key: _FATES.get(code, SURVIVED) for key, code in codes.items()})


def noticed(modules: Sequence[Module]) -> float:
    """Return the percentage of the mutants that were run that a test or a type noticed."""
    done = sum(module.count(*COLUMNS) for module in modules)
    return 100 * sum(module.count(*NOTICED) for module in modules) / done if done else 0.0


def table(modules: Sequence[Module]) -> str:
    """Return the counts of each module and their sum."""
    lines = [
        f"{'module':<36}{'mutants':>9}" + "".join(f"{name:>10}" for name in COLUMNS) + f"{'noticed':>10}"
    ]
    total: Counter[str] = Counter()
    for module in modules:
        counts = {name: module.count(name) for name in COLUMNS}
        total.update(counts)
        lines.append(_row(module.name, counts, noticed([module])))
    lines.append(_row("all", total, noticed(modules)))
    return "\n".join(lines)


def _row(name: str, counts: Mapping[str, int], share: float) -> str:
    numbers = "".join(f"{counts[column]:>10}" for column in COLUMNS)
    return f"{name:<36}{sum(counts.values()):>9}{numbers}{share:>8.1f} %"


def survivors(modules: Sequence[Module]) -> Iterator[str]:
    """Yield the names of the mutants that nothing noticed, module by module."""
    for module in modules:
        yield from (name for name, fate in module.fates.items() if fate in (SURVIVED, UNTESTED))


if __name__ == "__main__":
    sys.exit(main())
