from __future__ import annotations

import pytest

from oasis_operator.harness import commands

HOSTS = frozenset({"target"})


def asked(command: str) -> list[tuple[str, str, str, str]]:
    requests = commands.requests_of(commands.calls_of(command), "hunter", "now")
    return [(request.method, request.host, request.path, request.query) for request in requests]


def tools(command: str) -> list[str]:
    return [touch.surface for touch in commands.tools_of(commands.calls_of(command), HOSTS, "hunter", "now")]


@pytest.mark.parametrize(
    ("command", "requests"),
    [
        ("curl -s http://target:5000/a?b=1", [("GET", "target", "/a", "b=1")]),
        ("curl -X PUT 'http://target/a'", [("PUT", "target", "/a", "")]),
        ("curl -XDELETE http://target/a", [("DELETE", "target", "/a", "")]),
        ("curl http://target -d a=1 --data b=2", [("POST", "target", "/", "")]),
        (
            "curl -o out -O http://target/a http://target/b",
            [("GET", "target", "/a", ""), ("GET", "target", "/b", "")],
        ),
        ("wget -q -O - http://target/a", [("GET", "target", "/a", "")]),
        (
            "cd /tmp && curl http://target/a | grep x; curl http://other/",
            [("GET", "target", "/a", ""), ("GET", "other", "/", "")],
        ),
        ("for i in 1 2; do curl http://target/$i; done", [("GET", "target", "/$i", "")]),
        ("TOKEN=x curl \\\n  http://target/a", [("GET", "target", "/a", "")]),
        ("/usr/bin/curl --url=http://target/a", [("GET", "target", "/a", "")]),
    ],
)
def test_a_client_that_is_run_asks(command: str, requests: list[tuple[str, str, str, str]]) -> None:
    assert asked(command) == requests


@pytest.mark.parametrize(
    "command",
    [
        "echo curl http://target/login",
        "# curl http://target/login",
        "cat curl http://target/login",
        "echo 'curl http://target/login' > notes",
        "grep -r sqlmap . # nmap target",
        "curl 'http://target",
        "",
    ],
)
def test_what_only_names_a_client_asks_nobody(command: str) -> None:
    assert asked(command) == []
    assert tools(command) == []


def test_headers_cookies_users_and_bodies_are_read() -> None:
    command = "curl -H 'Content-Type: application/json' -b 's=1' -u a:b -d '{\"role\":1}' http://target/api"
    (request,) = commands.requests_of(commands.calls_of(command), "hunter", "now")
    assert request.headers == {
        "content-type": "application/json",
        "cookie": "s=1",
        "authorization": "Basic a:b",
    }
    assert request.body == '{"role":1}'


def test_a_tool_touches_only_the_target_that_it_is_run_against() -> None:
    assert tools("nmap -sV target") == ["reconnaissance"]
    assert tools("sqlmap -u http://target:5000/login --batch") == ["injection-vectors"]
    assert tools("nmap -sV localhost") == []
    assert tools("apt install nmap") == []


def test_a_command_that_did_not_run_is_none() -> None:
    assert commands.command_of({"arguments": {"command": "curl http://target"}, "error": "timeout"}) == ""
    assert commands.command_of({"arguments": {"command": "id"}}) == "id"
    assert commands.command_of({"arguments": "curl"}) == ""
