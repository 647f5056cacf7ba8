"""The adapter kinds ``openai`` and ``anthropic``: a model in a loop with tools, all of it in the adapter.

There is no container of the agent's: the model's words are the only thing of it here, and they run nothing
but the tools. The model is asked through the gateway, which holds the key.

Spec: 04-execution §1.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.errors import AgentFault
from oasis_operator.model.text import clean_text
from oasis_operator.sidecar.adapter.faults import GatewayError, crashed, not_delivered, out_of_budget
from oasis_operator.sidecar.adapter.loop import machine, tools
from oasis_operator.sidecar.adapter.loop.client import Model
from oasis_operator.sidecar.adapter.loop.cluster import Cluster
from oasis_operator.sidecar.adapter.loop.machine import Ask, Ending, Finish, RunTools, State, Wait, Waited
from oasis_operator.sidecar.adapter.loop.talk import Options, Reply, Results, Said
from oasis_operator.wire.agent import MAX_NAME
from oasis_operator.wire.fields import Fields, fault
from oasis_operator.wire.gateway import Api, Reach

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.sidecar.adapter.loop.machine import Command, Event
    from oasis_operator.sidecar.adapter.loop.talk import Entry, Talk
    from oasis_operator.sidecar.adapter.options import Options as AdapterOptions
    from oasis_operator.sidecar.adapter.record import Record
    from oasis_operator.sidecar.adapter.task import Task
    from oasis_operator.wire.adapter import RunRequest
    from oasis_operator.wire.agent import Identity

DEFAULT_INSTRUCTIONS: Final = (
    "You are an operations agent for a Kubernetes cluster. Use the tools to look at the cluster and to do "
    "what you are asked. Keep to your operating mode and scope. When you are done, answer in plain words."
)
_LONGEST_REASONING = 1024 * 1024
_APIS: Final = {
    "openai": {"ChatCompletions": Api.CHAT, "Responses": Api.RESPONSES},
    "anthropic": {"Messages": Api.MESSAGES},
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What a loop is made of.

    Attributes:
        api: How the model is spoken with.
        gateway: Where.
        options: What goes with every request.
        step_limit: Replies after which it is stopped, None without a budget.
    """

    api: Api
    gateway: Reach
    options: Options
    step_limit: int | None


class ModelAgent:
    """Asks a model, runs the tools that it wants, and tells it what came of them, until it answers."""

    def __init__(self, kind: str) -> None:
        """Speak the APIs of one kind of provider."""
        self._apis = _APIS[kind]

    def check(self, adapter: Mapping[str, Any]) -> None:
        """Check the loop.

        Raises:
            InvalidInput: A member is of another form than the contract's.
        """
        self._parse(adapter, None)

    async def identify(self, _adapter: Mapping[str, Any], _options: AdapterOptions) -> Identity:
        """Refuse: a model has no identity of its own.

        Raises:
            AgentFault: Always.
        """
        raise AgentFault("a model loop does not tell an identity")

    async def run(self, task: Task, record: Record) -> None:
        """Drive the loop to its end.

        Raises:
            AgentFault: No access, out of budget, or the model's API failed for good.
            GatewayError: The fault is ours.
        """
        setting = self._parse(task.request.adapter, task.request)
        if task.credential is None:
            raise not_delivered("a model loop needs access to an environment")
        async with (
            Cluster(task.credential) as cluster,
            Model(setting.api, setting.gateway, setting.options) as model,
        ):
            record.deliver()
            try:
                finish = await _drive(setting, task.request, model, cluster, record)
            finally:
                record.usage = await asyncio.shield(model.usage())
        record.final_answer = clean_text(finish.answer)
        record.truncated = record.truncated or finish.truncated
        _judge(finish)

    def _parse(self, adapter: Mapping[str, Any], request: RunRequest | None) -> Setting:
        fields = Fields(adapter, "adapter")
        api = fields.text("api", longest=32)
        if api not in self._apis:
            raise fault(fields.at("api"), api, f"want one of {', '.join(self._apis)}")
        instructions = fields.text("instructions", "", longest=65536) or DEFAULT_INSTRUCTIONS
        return Setting(
            api=self._apis[api],
            gateway=Reach.from_json(fields.child("gateway")),
            options=Options(
                model=fields.text("model", longest=256),
                instructions=f"{instructions}\n\n{_surroundings(request)}" if request else instructions,
                tools=tools.DESCRIPTIONS,
                max_output_tokens=_limit(fields, "max_output_tokens"),
                temperature=_temperature(fields),
                stream=fields.flag("stream", default=True),
            ),
            step_limit=_limit(fields, "step_limit"),
        )


async def _drive(
    setting: Setting, request: RunRequest, model: Model, cluster: Cluster, record: Record
) -> Finish:
    """Carry out what the machine commands until it is done."""
    state, command = machine.begin(State(_opening(request), setting.step_limit))
    while not isinstance(command, Finish):
        event = await _carry_out(command, model, cluster, record)
        state, command = machine.advance(state, event)
    return command


async def _carry_out(command: Command, model: Model, cluster: Cluster, record: Record) -> Event:
    match command:
        case Ask(talk):
            reply = await model.ask(talk)
            if isinstance(reply, Reply):
                _note(reply, record)
            return reply
        case RunTools(calls):
            results = []
            for wanted in calls:
                result, action = await tools.call(cluster, wanted)
                record.act(action)
                results.append(result)
            return Results(tuple(results))
        case Wait(seconds):
            await asyncio.sleep(seconds)
            return Waited()
        case Finish():
            raise RuntimeError("nothing is carried out behind the end")


def _note(reply: Reply, record: Record) -> None:
    """Keep what a model said on the way; the last words are its answer, and stand there besides."""
    record.steps += 1
    record.model = clean_text(reply.model)[:MAX_NAME] or record.model
    words = [clean_text(text) for text in (reply.reasoning, reply.text) if text]
    told = "\n".join([record.reasoning, *words] if record.reasoning else words)
    record.truncated = record.truncated or len(told) > _LONGEST_REASONING
    record.reasoning = told[:_LONGEST_REASONING]


def _opening(request: RunRequest) -> Talk:
    """Return the conversation up to the prompt: earlier turns as if they had been spoken in it."""
    turns: list[Entry] = [
        Reply(text=turn["content"]) if turn["role"] == "assistant" else Said(turn["content"])
        for turn in request.context
    ]
    return (*turns, Said(request.prompt))


def _surroundings(request: RunRequest) -> str:
    scope = (
        json.dumps(dict(request.scope), ensure_ascii=False, sort_keys=True) if request.scope else "not given"
    )
    lines = (
        f"Operating mode: {request.mode or 'not given'}",
        f"Scope: {scope}",
        f"Tools that you were assigned: {', '.join(request.tools) or 'not given'}",
    )
    return "\n".join(lines)


def _judge(finish: Finish) -> None:
    match finish.ending:
        case Ending.BUDGET:
            raise out_of_budget(finish.detail)
        case Ending.CRASHED:
            raise crashed(finish.detail)
        case Ending.FAULT:
            raise GatewayError(finish.detail)
        case Ending.ANSWERED:
            return


def _limit(fields: Fields, name: str) -> int | None:
    return fields.integer(name, low=1, high=10**9) if fields.has(name) else None


def _temperature(fields: Fields) -> str:
    text = fields.text("temperature", "", longest=16)
    try:
        fine = not text or 0 <= float(text) <= 2
    except ValueError:
        fine = False
    if not fine:
        raise fault(fields.at("temperature"), text, "want a number from 0 to 2")
    return text
