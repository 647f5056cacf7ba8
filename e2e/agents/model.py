"""A model server without a model: it answers chat completions, responses and messages by rules.

The name of the model chooses the rules: ``careful`` looks at the deployments and tells what it saw, ``reckless``
deletes the one that its prompt names, ``idle`` says nothing, ``busy`` asks to come back, ``down`` always fails, ``endless``
never stops looking, ``silent`` never answers, ``flood`` answers without end,
``steady`` looks thirty times and takes a second for each. It uses whatever tools it is offered, if it knows them: see ``HANDS``. It keeps count of what it was
asked at ``/books``.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

# Each call of a conversation is longer than the one before it: one that is the same was made twice.
BOOKS: dict = {"calls": 0, "keys": [], "repeated": 0}
_SEEN: set[str] = set()
_STEADY_LOOKS = 30
TOKENS = {"input": 100, "output": 20}
Call = tuple[str, dict]
_NAMED = re.compile(r"\bThe ([a-z0-9-]+) in ([a-z0-9-]+)\b")


class Hand:
    """Tools of a cluster: how one looks at deployments, deletes one and says the last word."""

    look: Call = ("kubectl_get", {"resource": "deployments", "all_namespaces": True})

    def delete(self, name: str, namespace: str) -> Call:
        """Give the call that deletes a deployment."""
        return "kubectl_delete", {"resource": "deployments", "name": name, "namespace": namespace}

    def answer(self, text: str) -> tuple[str, list[Call]]:
        """Give the last words, and the call that says them where words alone do not."""
        return text, []


class Resources(Hand):
    """The tools of an MCP server for Kubernetes."""

    kind: ClassVar[dict] = {"apiVersion": "apps/v1", "kind": "Deployment"}
    look = ("resources_list", kind)

    def delete(self, name: str, namespace: str) -> Call:
        """Give the call that deletes a deployment."""
        return "resources_delete", {**self.kind, "name": name, "namespace": namespace}


class Shell(Hand):
    """A shell with kubectl; one that wants to know the beginning of each command may refuse some of them."""

    def __init__(self, parameters: dict) -> None:
        self.guarded = "suggested_prefixes" in parameters
        self.look = self.run("kubectl get deployments --all-namespaces", "kubectl get")

    def run(self, command: str, prefix: str) -> Call:
        """Give the call that runs a command."""
        guard = {"suggested_prefixes": [prefix], "timeout": 30} if self.guarded else {}
        return "bash", {"command": command, **guard}

    def delete(self, name: str, namespace: str) -> Call:
        """Give the call that deletes a deployment."""
        return self.run(f"kubectl delete deployment {name} --namespace {namespace}", "kubectl delete")

    def answer(self, text: str) -> tuple[str, list[Call]]:
        """Say the last word by a command where every turn must have one."""
        if self.guarded:
            return text, []
        return text, [self.run(f"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo '{text}'", "echo")]


HANDS = {"resources_list": lambda _: Resources(), "bash": Shell, "kubectl_get": lambda _: Hand()}


def hand_of(body: dict) -> Hand:
    """Choose the tools of a request that this knows; its own kind where it offers none of them."""
    offered = [tool.get("function", tool) for tool in body.get("tools") or ()]
    parameters = {
        tool.get("name"): tool.get("parameters") or tool.get("input_schema") or {} for tool in offered
    }
    known = next((name for name in HANDS if name in parameters), None)
    return HANDS[known](parameters[known].get("properties") or {}) if known else Hand()


class Handler(BaseHTTPRequestHandler):
    """Serves the three APIs."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Tell what was asked so far."""
        self._send(200, BOOKS if self.path == "/books" else {"status": "ok"})

    def do_POST(self) -> None:
        """Answer one request."""
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        key = self.headers.get("X-Api-Key") or self.headers.get("Authorization", "").removeprefix("Bearer ")
        BOOKS["calls"] += 1
        whole = f"{key} {json.dumps(body, sort_keys=True)}"
        BOOKS["repeated"] += whole in _SEEN
        _SEEN.add(whole)
        BOOKS["keys"] = sorted({*BOOKS["keys"], key})
        model, seen = body["model"], results_in(body)
        if model == "down":
            self._send(500, {"error": {"type": "server_error", "message": "down"}}, {"Retry-After": "0"})
        elif model == "busy" and BOOKS["calls"] % 2:
            self._send(429, {"error": {"type": "rate_limit_error", "message": "busy"}}, {"Retry-After": "1"})
        elif model == "silent":
            threading.Event().wait()
        elif model == "flood":
            self._flood()
        else:
            text, calls = think(model, seen, asked_in(body), hand_of(body))
            self._send(200, SHAPES[self.path.rpartition("/")[2]](model, text, calls))

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def _flood(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(1 << 40))
        self.end_headers()
        # Whoever asked hangs up at some point.
        with contextlib.suppress(ConnectionError):
            while True:
                self.wfile.write(b"x" * (1 << 20))

    def _send(self, status: int, body: dict, headers: dict | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def results_in(body: dict) -> list[str]:
    """Give what came of the tools so far, whatever the API."""
    found = []
    for turn in [*(body.get("messages") or ()), *(body.get("input") or ())]:
        if turn.get("role") == "tool":
            found.append(str(turn["content"]))
        if turn.get("type") == "function_call_output":
            found.append(str(turn["output"]))
        content = turn.get("content")
        blocks = content if isinstance(content, list) else ()
        found += [str(block["content"]) for block in blocks if block.get("type") == "tool_result"]
    return found


def asked_in(body: dict) -> str:
    """Give what the user said, whatever the API."""
    turns = [*(body.get("messages") or ()), *(body.get("input") or ())]
    return json.dumps([turn.get("content") for turn in turns if turn.get("role") == "user"])


def think(model: str, seen: list[str], asked: str, hand: Hand) -> tuple[str, list[Call]]:
    """Give words and calls."""
    if model == "idle":
        return hand.answer("")
    if model == "steady":
        time.sleep(1)
    if not seen or model == "endless" or (model == "steady" and len(seen) < _STEADY_LOOKS):
        return "Let me look.", [hand.look]
    if model == "reckless" and len(seen) == 1:
        named = dict.fromkeys(_NAMED.findall(asked))
        return "They have to go.", [hand.delete(name, namespace) for name, namespace in named]
    return hand.answer(f"I looked {len(seen)} times and changed nothing: please confirm what should change.")


def chat(model: str, text: str, calls: list) -> dict:
    """Answer as chat completions do."""
    made = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for n, (name, given) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
    usage = {
        "prompt_tokens": TOKENS["input"],
        "completion_tokens": TOKENS["output"],
        "total_tokens": sum(TOKENS.values()),
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if made else "stop"}
    head = {"id": f"chat-{BOOKS['calls']}", "object": "chat.completion", "created": int(time.time())}
    return {**head, "model": model, "choices": [choice], "usage": usage}


def responses(model: str, text: str, calls: list) -> dict:
    """Answer as responses do."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    made = [
        {"type": "function_call", "call_id": f"c{n}", "name": name, "arguments": json.dumps(given)}
        for n, (name, given) in enumerate(calls)
    ]
    usage = {"input_tokens": TOKENS["input"], "output_tokens": TOKENS["output"]}
    return {"model": model, "status": "completed", "output": [said, *made], "usage": usage}


def messages(model: str, text: str, calls: list) -> dict:
    """Answer as messages do."""
    made = [
        {"type": "tool_use", "id": f"c{n}", "name": name, "input": given}
        for n, (name, given) in enumerate(calls)
    ]
    said = [{"type": "text", "text": text}] if text else []
    usage = {"input_tokens": TOKENS["input"], "output_tokens": TOKENS["output"]}
    reason = "tool_use" if made else "end_turn"
    return {"model": model, "content": [*said, *made], "stop_reason": reason, "usage": usage}


SHAPES = {"completions": chat, "responses": responses, "messages": messages}


if __name__ == "__main__":
    server = ThreadingHTTPServer(("", int(os.environ.get("MODEL_PORT", "8000"))), Handler)
    server.daemon_threads = True
    sys.exit(server.serve_forever())
