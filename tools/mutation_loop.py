"""Makes the mutants of the staged sources and runs the tests under each, in a process of its own.

mutmut makes the mutants: all variants of a function lie beside each other in one copy of the module, and a
switch chooses among them. Here the tests are collected once; for each mutant a fork of that process turns the
switch and runs the tests that reach the function, the likeliest first, until one fails. That is many times
faster than to start pytest anew for each. What mypy refuses is not run.

Results lie beside the copies, by mutant, as the exit status of its tests. What was noticed stays noticed as
long as the function is the same; what was not is tried again.

Run by tools/mutate.py, in the folder that it prepares.
"""

from __future__ import annotations

import argparse
import gc
import inspect
import os
import resource
import sys
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest
from mutmut import __main__ as mutmut
from mutmut.configuration import config
from mutmut.mutation import trampoline
from mutmut.mutation.data import MutantLineSpans, SourceFileMutationData
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.type_checking import run_type_checker
from mutmut.utils import file_utils
from mutmut.utils.format_utils import get_mutant_name, mangled_name_from_mutant_name

if TYPE_CHECKING:
    from collections.abc import Callable

KILLED: Final = 1
UNTESTED: Final = 33
TYPES: Final = 37
SLOW: Final = 36
# Statuses that are kept as long as the function is the same.
SETTLED: Final = frozenset({KILLED, TYPES, SLOW, 3})
# Processor time that a test may take under a mutant, besides five times what it takes without it.
SPARE_SECONDS: Final = 3
# Tests of a module that noticed its last mutants and are tried first under the next.
ALERT: Final = 25
# Modules whose caches are dear, and hold what no other module that is mutated has a part in: parsed rules.
SELF_CONTAINED: Final = frozenset({"oasis_operator.engine.assertions.rules"})
PYTEST: Final = ("-q", "-s", "-n0", "-p", "no:cacheprovider", "-o", "timeout=0", "--tb=no")


class Loop:
    """Runs all tests once to see which function each reaches, then those that matter under each mutant.

    Attributes:
        wanted: Names of the mutants to run.
        status: Exit status of each mutant that was run.
        broken: Tests that fail without any mutant; they are left out, since they would notice everything.
    """

    def __init__(self, wanted: list[str], children: int, keep: Callable[[str, int], None]) -> None:
        """Take the names of the mutants, how many run at once, and what keeps each result."""
        self.wanted = wanted
        self.broken: list[str] = []
        self._children = children
        self._keep = keep
        self._failed = False
        self._reaching: dict[str, list[pytest.Item]] = {}
        self._seconds: dict[str, float] = {}
        self._running: dict[int, tuple[str, list[pytest.Item], int]] = {}
        self._alert: dict[str, list[pytest.Item]] = {}
        self._caches: list[tuple[str, Callable[[], None]]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember that something failed; a test that is skipped notices nothing."""
        self._failed = self._failed or report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the place of pytest's own loop over the tests."""
        # The tests of a mutant are to fail, and nobody wants to read of it.
        session.config.pluginmanager.unregister(name="terminalreporter")
        self._caches = _caches()
        self._look(session.items)
        # What lives now is not collected in the forks, which would copy the pages it lies on.
        gc.freeze()
        started = time.monotonic()
        for place, name in enumerate(self.wanted, start=1):
            self._start(name)
            if place % 200 == 0:
                print(
                    f"{place} of {len(self.wanted)} mutants, {time.monotonic() - started:.0f} s", flush=True
                )
        while self._running:
            self._reap()
        return True

    def _look(self, items: list[pytest.Item]) -> None:
        """Run every test without a mutant, and note what it reaches and how long it takes."""
        reached = state()._stats  # noqa: SLF001 - where the switch notes what is called
        set_mutant_under_test("stats")
        reached.clear()
        for item, following in zip(items, [*items[1:], None], strict=True):
            # What one test has had worked out, the next would not reach.
            for _, forget in self._caches:
                forget()
            began = time.process_time()
            failed = self._fails(item, following)
            self._seconds[item.nodeid] = time.process_time() - began
            if failed:
                self.broken.append(item.nodeid)
            else:
                for function in reached:
                    self._reaching.setdefault(function, []).append(item)
            reached.clear()
        for reaching in self._reaching.values():
            reaching.sort(key=lambda item: self._seconds[item.nodeid])
        set_mutant_under_test("")

    def _fails(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        """Run a test; around one that needs nothing of pytest, pytest would cost more than the test."""
        given = _arguments(item)
        if given is None:
            self._failed = False
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            return self._failed
        try:
            item.obj(**given)  # type: ignore[attr-defined]
        except pytest.skip.Exception:
            return False
        except (Exception, pytest.fail.Exception):  # noqa: BLE001 - a test fails by whatever it raises
            return True
        return False

    def _start(self, name: str) -> None:
        tests = self._reaching.get(mangled_name_from_mutant_name(name), [])
        if not tests:
            self._keep(name, UNTESTED)
            return
        while len(self._running) >= self._children:
            self._reap()
        module = _module_of(name)
        rank = {id(test): place for place, test in enumerate(self._alert.setdefault(module, []))}
        own = f"test_{module.rpartition('.')[2]}"
        ordered = sorted(tests, key=lambda test: (rank.get(id(test), ALERT), own not in test.nodeid))
        reader, writer = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            self._run(name, ordered, writer)
        os.close(writer)
        self._running[child] = (name, ordered, reader)

    def _run(self, name: str, tests: list[pytest.Item], writer: int) -> NoReturn:
        """Run tests under a mutant in this process, say which failed, and end it: 0 where none did."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        set_mutant_under_test(name)
        for module, forget in self._caches:
            # What they hold was worked out without the mutant.
            if module == _module_of(name) or module not in SELF_CONTAINED:
                forget()
        status, place = 0, -1
        try:
            for item, following in zip(tests, [*tests[1:], None], strict=True):
                place += 1
                limit = int(time.process_time() + 5 * self._seconds[item.nodeid]) + SPARE_SECONDS
                resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
                if self._fails(item, following):
                    status = KILLED
                    break
        except BaseException:  # noqa: BLE001 - whatever a mutant raises, something has noticed it
            status = KILLED
        finally:
            if status == KILLED:
                os.write(writer, str(place).encode())
            os._exit(status)

    def _reap(self) -> None:
        child, ended = os.wait()
        name, tests, reader = self._running.pop(child)
        told = os.read(reader, 20).decode()
        os.close(reader)
        if told:
            killer, alert = tests[int(told)], self._alert[_module_of(name)]
            alert[:] = [killer, *(test for test in alert if test is not killer)][:ALERT]
        code = os.waitstatus_to_exitcode(ended)
        self._keep(name, SLOW if code < 0 else code)


def _arguments(item: pytest.Item) -> dict[str, Any] | None:
    """Return what a test is called with, None where it asks for fixtures or runs in a way of its own."""
    test = getattr(item, "obj", None)
    if test is None or inspect.iscoroutinefunction(test) or hasattr(test, "hypothesis"):
        return None
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters if inspect.signature(test).parameters.keys() == parameters.keys() else None


def _module_of(mutant: str) -> str:
    return mutant.rpartition(".")[0]


def _caches() -> list[tuple[str, Callable[[], None]]]:
    """Return what empties each cache of a function, with the module that it is in.

    A function that takes nothing is left alone: it holds a constant, such as the parser of the rule language.
    """
    return [
        (name, one.cache_clear)
        for name, module in list(sys.modules.items())
        if name.startswith("oasis_operator.")
        for one in list(vars(module).values())
        if hasattr(one, "cache_clear") and inspect.signature(one).parameters
    ]


class Results:
    """The statuses of all mutants, as they lie beside the copies of the modules."""

    def __init__(self) -> None:
        """Read what earlier runs left."""
        self._modules: dict[str, SourceFileMutationData] = {}
        self._changed: list[SourceFileMutationData] = []
        for path in file_utils.walk_mutatable_files():
            module = SourceFileMutationData(path=path)
            module.load()
            module.meta_path = module.meta_path.resolve()
            self._modules.update(dict.fromkeys(module.exit_code_by_key, module))

    def status(self, name: str) -> int | None:
        """Return the status of a mutant, None where it was never looked at."""
        return self._modules[name].exit_code_by_key[name]

    def left(self, patterns: list[str]) -> list[str]:
        """Return the mutants that are to be run: those that nothing has noticed, and that match if asked."""
        names = [name for name in self._modules if self.status(name) not in SETTLED]
        return [name for name in names if not patterns or any(fnmatch(name, one) for one in patterns)]

    def keep(self, name: str, status: int) -> None:
        """Take the status of a mutant, and write what was taken from time to time."""
        module = self._modules[name]
        module.exit_code_by_key[name] = status
        self._changed.append(module)
        if len(self._changed) >= 100:
            self.save()

    def save(self) -> None:
        """Write what was taken since it was last written."""
        for module in {id(one): one for one in self._changed}.values():
            module.save()
        self._changed.clear()


def main() -> int:
    """Make mutants, let mypy refuse some, run the tests under the others; 1 where pytest could not run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--children", type=int, default=2)
    parser.add_argument("mutants", nargs="*")
    options = parser.parse_args()
    # Every call of a mutated function asks for it; the environment, where mutmut looks, would be slow.
    trampoline.get_mutant_under_test = _switch
    set_mutant_under_test("mutant_generation")
    Path("mutants").mkdir(exist_ok=True)
    with mutmut.CatchOutput():
        file_utils.copy_src_dir()
        file_utils.copy_also_copy_files()
        file_utils.setup_source_paths()
        mutmut.create_mutants(options.children)
    results = Results()
    left = results.left(options.mutants)
    print(f"{len(left)} mutants to look at", flush=True)
    left = _typed(left, results)
    print(f"{len(left)} mutants to run", flush=True)
    loop = Loop(left, options.children, results.keep)
    settings: Any = config()
    os.chdir("mutants")
    set_mutant_under_test("collecting")
    status = pytest.main(
        [*PYTEST, *settings.pytest_add_cli_args, *settings.pytest_add_cli_args_test_selection], plugins=[loop]
    )
    results.save()
    for test in loop.broken:
        print(f"left out, since it fails without any mutant: {test}", file=sys.stderr)
    # A test that was left out has failed.
    return 0 if status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) else int(status)


def _switch() -> str:
    return trampoline._mutant_under_test or ""  # noqa: SLF001 - mutmut's own copy of the switch


def _typed(left: list[str], results: Results) -> list[str]:
    """Return the mutants that mypy finds nothing wrong with; the others are noted as refused."""
    if all(results.status(name) is not None for name in left) or not config().type_check_command:
        return left
    refused = _refused()
    for name in left:
        if name in refused:
            results.keep(name, TYPES)
    results.save()
    return [name for name in left if name not in refused]


def _refused() -> set[str]:
    """Return the mutants in which mypy finds an error."""
    with file_utils.change_cwd("mutants"):
        errors = run_type_checker(config().type_check_command)
    lines: dict[Path, set[int]] = {}
    for error in errors:
        lines.setdefault(error.file_path.resolve(), set()).add(error.line_number)
    found = set()
    for path in file_utils.walk_mutatable_files():
        wrong = lines.get((Path("mutants") / path).resolve(), set())
        spans = MutantLineSpans.load(path)
        for name, span in spans.span_by_function_name.items() if spans is not None and wrong else ():
            if any(span.start <= line <= span.end for line in wrong):
                found.add(get_mutant_name(path, name))
    return found


if __name__ == "__main__":
    sys.exit(main())
