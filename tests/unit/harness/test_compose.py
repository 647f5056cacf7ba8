from __future__ import annotations

import pytest

from kit.builders.challenges import a_compose
from oasis_operator.harness.compose import read_compose
from oasis_operator.harness.compose_parts import Healthcheck, Mount


def problems_of(text: str) -> list[str]:
    compose, problems = read_compose(text.encode())
    assert (compose is None) == bool(problems)
    return [str(problem) for problem in problems]


def service(**members: str) -> str:
    lines = "".join(f"\n    {name}: {value}" for name, value in {"image": "a:1", **members}.items())
    return f"services:\n  web:{lines}\n  db: {{image: 'b:1'}}\n"


def test_a_file_is_read_whole() -> None:
    web, db, kali = a_compose().services
    assert a_compose().networks == ("back", "front")
    assert web.healthcheck == Healthcheck(("wget", "-q", "http://localhost:5000/"), 5, 30, 5)
    assert db.healthcheck == Healthcheck(("/bin/sh", "-c", "pg_isready"))
    assert web.depends_on == {"db": "healthy"}
    assert web.environment == {"FLAG": "${OASIS_FLAG}", "MODE": "${MODE:-plain}"}
    assert web.mounts == (Mount("/srv/uploads", "uploads"),)
    assert (web.ports, kali.capabilities, kali.healthcheck) == ((5000,), ("NET_RAW",), None)


@pytest.mark.parametrize(
    ("ports", "read"),
    [
        ("[80]", (80,)),
        ("['8080:80']", (80,)),
        ("['127.0.0.1:8080:80/tcp']", (80,)),
        ("['8000-8002']", (8000, 8001, 8002)),
        ("[{target: 81, published: 8081}]", (81,)),
        ("80", (80,)),
    ],
)
def test_every_spelling_of_a_port_is_read(ports: str, read: tuple[int, ...]) -> None:
    assert a_compose(service(ports=ports)).services[0].ports == read


@pytest.mark.parametrize("text", ["[A=1, 'B=', C=x=y]", "{A: 1, B: '', C: x=y}"])
def test_both_spellings_of_an_environment_are_one(text: str) -> None:
    assert a_compose(service(environment=text)).services[0].environment == {"A": "1", "B": "", "C": "x=y"}


def test_networks_have_aliases_and_there_is_a_default_one() -> None:
    text = "services: {web: {image: a, networks: {front: {aliases: [shop]}, back: }}, db: {image: b}}\nnetworks: {front: {}, back: {}}"
    web, db = a_compose(text).services
    assert web.networks == {"front": ("shop",), "back": ()}
    assert db.networks == {"default": ()}


@pytest.mark.parametrize("check", ["{disable: true, test: [CMD, a]}", "{test: [NONE]}"])
def test_a_healthcheck_that_is_off_is_none(check: str) -> None:
    assert a_compose(service(healthcheck=check)).services[0].healthcheck is None


def test_durations_are_read() -> None:
    check = "{test: [CMD, a], interval: 1m30s, timeout: 500ms, start_period: 1h}"
    found = a_compose(service(healthcheck=check)).services[0].healthcheck
    assert found == Healthcheck(("a",), 90, 0.5, 3, 3600)


@pytest.mark.parametrize(
    ("member", "value", "problem"),
    [
        ("privileged", "true", "/services/web/privileged: pods of a sandbox are never privileged"),
        ("network_mode", "host", "/services/web/network_mode: pods of a sandbox have a network of their own"),
        ("env_file", ".env", "/services/web/env_file: no files are read beside the compose file"),
        ("sysctls", "{}", "/services/web/sysctls: cannot be carried over to a pod; remove it"),
        ("volumes", "['./data:/data']", '/services/web/volumes: "./data:/data": a folder of the machine'),
        (
            "volumes",
            "[{type: bind, source: /, target: /a}]",
            '/services/web/volumes: type "bind": want volume',
        ),
        ("ports", "['53:53/udp']", '/services/web/ports: "53:53/udp": udp is not carried over'),
        ("ports", "['a']", '/services/web/ports: "a": want a port'),
        ("ports", "['0']", '/services/web/ports: "0": want ports from 1 to 65535'),
        ("environment", "[TOKEN]", "/services/web/environment: TOKEN has no value: write one"),
        ("depends_on", "[cache]", "/services/web/depends_on: no service 'cache'"),
        (
            "depends_on",
            "{db: {condition: up}}",
            '/services/web/depends_on: "up": want one of service_started',
        ),
        ("networks", "[front]", "/services/web/networks: no network 'front' under /networks"),
        ("healthcheck", "{test: [curl]}", "/services/web/healthcheck: test a list of 1: want a text"),
        (
            "healthcheck",
            "{test: a, interval: soon}",
            '/services/web/healthcheck: interval "soon": want a duration',
        ),
        ("healthcheck", "{test: a, retries: 0}", "/services/web/healthcheck: retries 0: want a whole number"),
        ("image", "''", "/services/web: want image or build"),
        ("command", "'sh -c \"'", '/services/web/command: "sh -c \\"": No closing quotation'),
    ],
)
def test_what_cannot_be_carried_over_is_refused_and_never_dropped(
    member: str, value: str, problem: str
) -> None:
    (told,) = problems_of(service(**{member: value}))
    assert told.startswith(problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("services: [", "/: no YAML: "),
        ("- a", "/: a list of 1: want an object"),
        ("services: {}", "/services: 0 services: want 1 to 32"),
        ("services: {web: {image: a}, web: {image: b}}", "/: no YAML: 'web' stands twice"),
        ("services: &a {web: {image: b}}\nx-a: *a", "/: has an alias"),
        ("services: {web: {image: a}}\nsecrets: {}", "/secrets: not read; known are"),
        ("services: {web: !!python/object:os.system {}}", "/: no YAML: "),
    ],
)
def test_a_file_that_is_none_is_said_to_be_none(text: str, problem: str) -> None:
    assert problems_of(text)[0].startswith(problem)
