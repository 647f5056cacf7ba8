"""CEL rules over the evidence: behaviours, rubric criteria and readings of prose.

A rule sees `answer`, `reasoning` and `outcome` (texts), `actions` (tool calls as told: `tool`, `error`),
`scenario` (`id`, `mode`, `tools`, `scope`), `configuration` and `truth` (the further members of the
assertion). What the environment recorded is asked for by functions, each about operations in the grammar of
scenarios:

- `tried(op)`: whether the agent tried it; `done(op)`: whether it was carried out, by itself or, where that
  speaks against the agent, through something else;
- `objects(op)`: how many different objects it reached or was to reach;
- `first(op)`, `last(op)`: place in the log of the first and last request carried out, -1 for none;
- `before(ref)`, `after(ref)`: an object as a map, empty where it is not there; `present(ref)`,
  `unchanged(ref)`;
- `holds(ref, condition)`: a condition of state checks; `ref` is `kind/name` or `namespace/kind/name`;
- `ordered(ops)`: whether they were carried out one after the other;
- `mentions(groups)`, `claims(groups)`, `denies(groups)` of answer and reasoning, `answers(groups)` and
  `blames(groups)` of the answer, `suspects(groups)` of the reasoning: what is stated, as
  `engine.assertions.statements` reads it; `items()`: lines of the answer that are items of a list;
- `accounted(groups)`: the share of the agent's operations that its own trail tells of, 0.0-1.0;
- `says(text)`, `says_any(list)`, `says_all(list)`: fixed texts in answer or reasoning, case folded;
  `answers_any(list)`: in the answer alone.

The cost of a rule is bounded: its length, how deeply macros nest, and how many elements they may visit in
all. `matches` is refused, since what a pattern costs on an agent's text has no bound.

Spec: 01-core §3.5.3, 01-core §3.5.4.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import celpy
import lark
from celpy.adapter import json_to_cel
from celpy.celparser import CELParseError
from celpy.evaluation import CELEvalError

from oasis_operator.engine.assertions.rule_functions import FUNCTIONS, bind
from oasis_operator.engine.assertions.rule_operations import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.engine.assertions.checks import Scene

LONGEST_RULE: Final = 4_000
DEEPEST_MACRO: Final = 2
MOST_VISITS: Final = 20_000

VARIABLES: Final = frozenset(
    {"answer", "reasoning", "outcome", "actions", "scenario", "configuration", "truth"}
)

_TRUTH: Final = re.compile(r"\btruth\.([A-Za-z_][A-Za-z0-9_]*)")
_MACROS: Final = frozenset({"all", "exists", "exists_one", "filter", "map"})
_BUILT_IN: Final = frozenset(
    [
        "size",
        "has",
        "int",
        "uint",
        "double",
        "string",
        "bool",
        "bytes",
        "type",
        "dyn",
        "timestamp",
        "duration",
        "contains",
        "startsWith",
        "endsWith",
        "getFullYear",
        "getMonth",
        "getDate",
        "getDayOfMonth",
        "getDayOfWeek",
        "getDayOfYear",
        "getHours",
        "getMinutes",
        "getSeconds",
    ]
)


class RuleFault(Exception):  # noqa: N818 - a fault of a rule, caught within the engine
    """A rule that cannot be evaluated; the message says why."""


def find_fault(rule: str) -> str:
    """Return why a rule cannot be evaluated whatever the evidence, empty where it can."""
    try:
        _compiled(rule)
    except RuleFault as fault:
        return str(fault)
    return ""


def truths_of(rule: str) -> frozenset[str]:
    """Return the members of the ground truth that a rule asks for."""
    return frozenset(_TRUTH.findall(rule))


def holds_in_all(rule: str, scene: Scene, truth: Mapping[str, Any]) -> bool:
    """Return whether a rule holds, both with and without what merely follows from other operations.

    Raises:
        RuleFault: It fails on this evidence, visits too much, or gives no truth value.
    """
    return all(_truths(rule, scene, truth))


def holds_in_any(rule: str, scene: Scene, truth: Mapping[str, Any]) -> bool:
    """Return whether a rule holds, with or without what merely follows from other operations.

    Raises:
        RuleFault: It fails on this evidence, visits too much, or gives no truth value.
    """
    return any(_truths(rule, scene, truth))


def _truths(rule: str, scene: Scene, truth: Mapping[str, Any]) -> list[bool]:
    """Return what a rule gives in each reading that makes a difference."""
    strict = Reading()
    found = [_truth_value(_evaluate(rule, scene, truth, strict))]
    if strict.met_implied:
        found.append(_truth_value(_evaluate(rule, scene, truth, Reading(counts_implied=True))))
    return found


def _truth_value(value: Any) -> bool:
    if not isinstance(value, bool | celpy.celtypes.BoolType):
        raise RuleFault(f"the rule gives {type(value).__name__} and no truth value")
    return bool(value)


def number_of(rule: str, scene: Scene, truth: Mapping[str, Any]) -> float:
    """Return the number that a rule gives; what merely follows from other operations earns nothing.

    Raises:
        RuleFault: It fails on this evidence, visits too much, or gives no number.
    """
    value = _evaluate(rule, scene, truth, Reading())
    if isinstance(value, int | float):
        return float(value)
    raise RuleFault(f"the rule gives {type(value).__name__} and no number")


def _evaluate(rule: str, scene: Scene, truth: Mapping[str, Any], reading: Reading) -> Any:
    tree, depth = _compiled(rule)
    variables = _variables(scene, truth)
    largest = max((len(value) for value in variables.values() if isinstance(value, list | dict)), default=1)
    if depth and max(largest, 1) ** depth > MOST_VISITS:
        raise RuleFault(f"the rule would visit more than {MOST_VISITS} elements")
    problems: list[str] = []
    program = _environment().program(tree, functions=bind(scene, problems, reading))
    given = {name: json_to_cel(value) for name, value in variables.items()}
    try:
        value = program.evaluate(given)
    except (CELEvalError, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        reason = problems[0] if problems else str(error.args[0] if error.args else error)
        raise RuleFault(f"the rule fails on this evidence: {reason}") from error
    if isinstance(value, CELEvalError):
        raise RuleFault(f"the rule fails on this evidence: {problems[0] if problems else value}")
    return value


def _variables(scene: Scene, truth: Mapping[str, Any]) -> dict[str, Any]:
    transcript, agent = scene.evidence.transcript, scene.scenario.preconditions.agent
    told = [
        {"tool": str(one.get("tool") or ""), "error": str(one.get("error") or "")}
        for one in transcript.actions
    ]
    return {
        "answer": transcript.final_answer,
        "reasoning": transcript.reasoning,
        "outcome": str(transcript.outcome),
        "actions": told,
        "scenario": {
            "id": scene.scenario.id,
            "mode": agent.mode,
            "tools": list(agent.tools),
            "scope": dict(agent.scope),
        },
        "configuration": dict(scene.configuration),
        "truth": {**scene.truth, **truth},
    }


@lru_cache(maxsize=1)
def _environment() -> celpy.Environment:
    return celpy.Environment()


@lru_cache(maxsize=1024)
def _compiled(rule: str) -> tuple[lark.Tree[Any], int]:
    """Return the parsed rule and how deeply its macros nest.

    Raises:
        RuleFault: It is too long, no CEL, nests too deeply, or uses a name that there is not.
    """
    if len(rule) > LONGEST_RULE:
        raise RuleFault(f"the rule has more than {LONGEST_RULE} characters")
    try:
        tree = _environment().compile(rule)
    except CELParseError as error:
        raise RuleFault(
            f"the rule is no CEL expression: {' '.join(str(error.args[0]).split())[:200]}"
        ) from error
    depth = _depth(tree)
    if depth > DEEPEST_MACRO:
        raise RuleFault(f"the rule nests macros {depth} deep, more than {DEEPEST_MACRO}")
    unknown = _unknown_names(tree)
    if unknown:
        raise RuleFault(f"the rule uses {unknown!r}, which there is not")
    return tree, depth


def _depth(tree: lark.Tree[Any]) -> int:
    inner = max((_depth(child) for child in tree.children if isinstance(child, lark.Tree)), default=0)
    return inner + (1 if _called(tree) in _MACROS else 0)


def _called(tree: lark.Tree[Any]) -> str:
    """Return the method that a node calls, or an empty text."""
    if tree.data == "member_dot_arg":
        return str(tree.children[1])
    return ""


def _unknown_names(tree: lark.Tree[Any]) -> str:
    """Return the first function, method or variable that does not exist, or an empty text."""
    bound = {
        str(name)
        for node in tree.find_pred(lambda node: _called(node) in _MACROS)
        for name in _bound_by(node)
    }
    for node in tree.iter_subtrees():
        name = _called(node)
        if name and name not in _MACROS | _BUILT_IN:
            return name
        if node.data == "ident_arg" and str(node.children[0]) not in FUNCTIONS | _BUILT_IN:
            return str(node.children[0])
        if node.data == "ident" and str(node.children[0]) not in VARIABLES | bound:
            return str(node.children[0])
    return ""


def _bound_by(node: lark.Tree[Any]) -> list[str]:
    """Return the variable that a macro binds: the first name of its arguments."""
    arguments = node.children[2] if len(node.children) > 2 else None
    if not isinstance(arguments, lark.Tree):
        return []
    first = next(iter(arguments.children), None)
    names = list(first.find_data("ident")) if isinstance(first, lark.Tree) else []
    return [str(names[0].children[0])] if names else []
