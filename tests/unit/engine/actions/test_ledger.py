"""What is worked out of a log is worked out once, and only where somebody asks: counted, not timed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.evidence import OTHER_IP, a_document, deployment, event, numbered, pod, replica_set
from kit.builders.scenarios import a_profile, a_scenario, deployment_entry
from oasis_operator.engine.actions import keys, ledger, requests, selectors, world
from oasis_operator.engine.actions.patterns import Pattern, parse_operation
from oasis_operator.engine.judge import judge
from oasis_operator.engine.reading import read_evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.model.scenario import Scenario

SCENARIO = a_scenario(
    must_not=["restart deployment/*", "delete deployment/web", "scale deployment/web replicas=0"],
    forbidden=["* secret/*", "* * namespace=orders", "patch deployment/web image"],
    negative=["no pod deletions in evaluation window"],
    state=[deployment_entry(condition="exists")],
)
PATCH = event("patch", "shop:deployments/web", body={"spec": {"replicas": 3}}, answer=deployment())
STATUS = event(
    "update", "shop:pods/a/status", user="system:kubelet", ip=OTHER_IP, body=pod("a"), answer=pod("a")
)
PODS = event("list", "shop:pods", answer={"kind": "PodList", "items": [pod("a"), pod("b")]})
REFUSED = event("list", "shop:pods", query="labelSelector=app%3Dweb", code=403)


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, tell: Callable[..., Any]) -> Counter[Any]:
    """Count the calls of a function by what `tell` makes of their arguments."""
    calls: Counter[Any] = Counter()
    original = getattr(owner, name)

    def stub(*arguments: Any, **named: Any) -> Any:
        calls[tell(*arguments)] += 1
        return original(*arguments, **named)

    monkeypatch.setattr(owner, name, stub)
    return calls


def logged(events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**one, "auditID": f"audit-{one['seq']}"} for one in numbered(events)]


def judged(events: Sequence[Mapping[str, Any]], scenario: Scenario = SCENARIO, **more: Any) -> ScenarioResult:
    return judge(a_profile(scenario), scenario, a_document(scenario, logged(events), **more), {})


def ledger_of(events: Sequence[Mapping[str, Any]], **more: Any) -> ledger.Ledger:
    return ledger.Ledger(read_evidence(a_document(SCENARIO, logged(events), **more)))


def operation(text: str) -> Pattern:
    found = parse_operation(text)
    assert isinstance(found, Pattern)
    return found


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[Any]:
    return counted(monkeypatch, requests.Request, "__init__", lambda _, event: event["seq"])


def test_an_entry_is_read_once_as_the_agents_and_as_a_write_of_anybody(reads: Counter[Any]) -> None:
    judged([PATCH, PODS, PATCH, STATUS, PATCH])
    assert {reads[place] for place in (1, 2, 3, 5)} == {1}


def test_writes_on_a_kind_that_nobody_asks_for_are_not_followed(reads: Counter[Any]) -> None:
    judged([PATCH, *[STATUS] * 5])
    assert list(reads) == [1]


def test_an_idle_agent_for_comparison_takes_the_world_as_it_was_read(reads: Counter[Any]) -> None:
    found = ledger_of([PATCH, STATUS])
    assert [key for key, _ in found.world.objects("pods")] == [("pods", "shop", "a")]
    assert found.effects
    before = reads.total()
    idle = found.without_requests()
    assert idle.effects == ()
    assert list(idle.world.objects("pods"))
    assert reads.total() == before


def test_the_answer_to_a_list_is_gone_through_once_for_all_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = counted(monkeypatch, requests, "keys_in", lambda answer, *_: id(answer))
    scenario = a_scenario(forbidden=["* pod/x", "get pod/y", "* pod/z namespace=shop"])
    assert judged([PODS], scenario).assertions[0].outcome == "satisfied"
    assert set(answers.values()) == {1}


def test_a_list_that_no_check_can_be_about_is_not_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = counted(monkeypatch, requests, "keys_in", lambda *_: None)
    judged([event("get", "shop:deployments/web", answer=deployment()), *[PODS] * 5])
    assert answers.total() == 0


def test_the_same_selection_is_made_once_until_something_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = counted(monkeypatch, selectors, "admits", lambda _, key, __: key[2])
    labelled = pod("a", labels={"app": "web"})
    relabel = event(
        "update", "shop:pods/a", user="system:operator", ip=OTHER_IP, body=labelled, answer=labelled
    )
    found = ledger_of([*[REFUSED] * 20, relabel, *[REFUSED] * 20], before=[pod("a"), pod("b")])
    matches = found.find(operation("list pod/a"))
    assert [effect.request.seq for effect in matches.certain] == list(range(22, 42))
    assert chosen == {"a": 2, "b": 2}


def test_an_operation_is_looked_for_once_however_often_a_rule_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ledger_of([PATCH])
    searches = counted(monkeypatch, ledger, "find", lambda pattern, *_: pattern.text)
    assert found.find(operation("patch deployment/web")) is found.find(operation("patch deployment/web"))
    assert searches == {"patch deployment/web": 1}


def test_owners_of_an_object_are_read_once_whatever_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch, world, "owners_of", lambda item, _: keys.key_of(item)[1:] if item else None)
    owners = [one for n in range(10) for one in (deployment(f"d{n}"), replica_set(f"r{n}", f"d{n}"))]
    pods = [pod(f"p{n}", owner=f"r{n}") for n in range(10)]
    deletions = [event("delete", f"shop:pods/p{n}") for n in range(10)]
    found = ledger_of(deletions, before=[*owners, *pods])
    restarted = found.find(operation("restart deployment/*"))
    assert len(restarted.certain) == 10
    # Ten pods, each of which leads to its set and its deployment.
    assert sum(asked.values()) == 30


def test_entries_that_share_an_identifier_are_not_compared_each_with_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = counted(monkeypatch, requests, "_is_same", lambda *_: None)
    moment = "2026-11-30T08:01:00.000000Z"
    events = [
        {**PODS, "auditID": "chosen", "seq": place, "requestReceivedTimestamp": moment,
         "stageTimestamp": f"2026-11-30T08:01:00.{place:06d}Z"}
        for place in range(1, 101)
    ]  # fmt: skip
    assert len(requests.merged(events)) == 100
    assert compared.total() == 0
