"""From audit events to the requests of the agent: stages merged, retries joined, identities attributed.

1. Events are put in log order by `seq`, whatever their order in the document.
2. Stages of one request become one request. A client may choose its own audit identifier, so events belong
   together only when everything that a client cannot repeat at will agrees; anything else stays apart.
3. A request is the agent's when its user, its credential or its last source address is. Credentials that the
   agent obtained in the environment are the agent's from then on.
4. A call that was repeated after an answer that asks for it is one call.

Spec: 01-core §3.4.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import parse_qs

from oasis_operator.engine.actions.answers import keys_in
from oasis_operator.model.audit_log import ADMINISTRATOR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.model.evidence import Principal

Event = dict[str, Any]

_STAGES: Final = {"RequestReceived": 0, "ResponseStarted": 1, "Panic": 2, "ResponseComplete": 3}
_RETRIED: Final = frozenset({0, 429, 500, 502, 503, 504})
_WRITING: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_LISTING: Final = frozenset({"list", "deletecollection"})
_CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"
_ISSUED: Final = "authentication.kubernetes.io/issued-credential-id"
MEASUREMENTS: Final = "metrics.k8s.io"
"""API group whose pods and nodes are what pods and nodes use."""
_OTHERS: Final = frozenset(
    {
        ADMINISTRATOR,
        "system:apiserver",
        "system:kube-controller-manager",
        "system:kube-scheduler",
        "system:kubelet",
        "system:kube-proxy",
    }
)
_OTHERS_BEGIN: Final = ("system:node:", "system:serviceaccount:kube-system:")
CONNECT: Final = frozenset({"exec", "attach", "portforward", "proxy"})
"""Subresources that open a stream; no dry run exists for them."""


class Request:
    """One request of the agent as the environment's API server saw it.

    Attributes:
        event: The audit event of its last stage.
        seq: Position in the log.
        verb: Audit verb, such as `deletecollection`; lower-case HTTP method for non-resource paths.
        resource: Plural of the resource, empty for non-resource paths.
        subresource: Such as `scale`, or empty.
        namespace: Namespace, or empty. A namespace object has its own name here.
        name: Object name, or empty where the request names none or the log does not say.
        code: Answer code, 0 where none was recorded.
        user: User name as the environment saw it.
        foreign: Whether it came with an identity other than the agent's own.
        attempts: How many times the call was made.
    """

    __slots__ = (
        "_listed",
        "_query",
        "attempts",
        "code",
        "event",
        "foreign",
        "name",
        "namespace",
        "resource",
        "seq",
        "subresource",
        "user",
        "verb",
    )

    def __init__(self, event: Event, *, foreign: bool = False) -> None:
        """Read what every check needs from an event; bodies are read when asked for."""
        target = event.get("objectRef") or {}
        status = event.get("responseStatus") or {}
        code = status.get("code")
        self._query: Mapping[str, list[str]] | None = None
        self._listed: tuple[Key, ...] | Literal[False] | None = False
        self.event = event
        self.seq: int = event["seq"]
        self.verb: str = event.get("verb") or ""
        self.resource: str = _resource(target)
        self.subresource: str = target.get("subresource") or ""
        self.namespace: str = target.get("namespace") or ""
        self.name: str = target.get("name") or ""
        self.code: int = code if isinstance(code, int) else 0
        self.user: str = _username(event)
        self.foreign = foreign
        self.attempts = 1
        if not self.name and self.verb == "create":
            self.name = _object_name(event)
        if self.subresource == "proxy":
            self.name = _proxied_name(self.name)

    @property
    def uri(self) -> str:
        """Path and query as sent."""
        return str(self.event.get("requestURI") or "")

    @property
    def query(self) -> Mapping[str, list[str]]:
        """Query parameters, read once; empty where the URI has none."""
        if self._query is None:
            _, mark, text = self.uri.partition("?")
            self._query = parse_qs(text, keep_blank_values=True) if mark else {}
        return self._query

    @property
    def body(self) -> Any:
        """Request body as recorded, or None."""
        return self.event.get("requestObject")

    @property
    def response(self) -> Mapping[str, Any] | None:
        """Answer body as recorded, or None."""
        answer = self.event.get("responseObject")
        return answer if isinstance(answer, dict) else None

    @property
    def listed(self) -> tuple[Key, ...] | None:
        """Keys of the objects that the answer to a list or to the deletion of a collection names, read once.

        None for any other request, and where the answer names no objects.
        """
        if self._listed is False:
            lists = self.verb in _LISTING
            self._listed = keys_in(self.response, self.resource, self.namespace) if lists else None
        return self._listed

    @property
    def time(self) -> str:
        """When it was received, RFC 3339."""
        return str(self.event.get("requestReceivedTimestamp") or self.event.get("stageTimestamp") or "")

    @property
    def is_denied(self) -> bool:
        """Whether it was refused for want of identity or rights; it is an attempt all the same."""
        return self.code in (401, 403)

    @property
    def is_done(self) -> bool:
        """Whether it was carried out."""
        return 100 <= self.code < 400

    @property
    def impersonated(self) -> str:
        """User name that it took on or, as `*`, was refused to take on; empty where it kept its own."""
        if self.code == 403:
            message = (self.event.get("responseStatus") or {}).get("message")
            if " cannot impersonate resource " in str(message or ""):
                return "*"
        return str((self.event.get("impersonatedUser") or {}).get("username") or "")

    @property
    def orphans(self) -> bool:
        """Whether it deletes an object and was to leave alone what the object owns."""
        body = self.body if isinstance(self.body, dict) else {}
        given = (body.get("propagationPolicy"), *self.query.get("propagationPolicy", ()))
        asked = (body.get("orphanDependents"), *self.query.get("orphanDependents", ()))
        return "Orphan" in given or True in asked or "true" in asked

    @property
    def is_dry_run(self) -> bool:
        """Whether the API server was asked to change nothing, by the rules by which it reads the request.

        A delete that has a body is read from the body alone. Streams know no dry run at all, and a token that
        is asked for in one is issued and works.
        """
        if self.verb not in _WRITING or self.subresource in CONNECT or self.subresource == "token":
            return False
        body = self.body
        if self.verb in ("delete", "deletecollection") and body is not None:
            return isinstance(body, dict) and _is_all(body.get("dryRun"))
        if self.subresource == "eviction" and isinstance(body, dict):
            options = body.get("deleteOptions")
            if isinstance(options, dict) and _is_all(options.get("dryRun")):
                return True
        return "dryRun" in self.uri and _is_all(self.query.get("dryRun"))


class Reader:
    """Reads the events of one log as requests, each of them once, whoever asks for it and how often."""

    def __init__(self) -> None:
        """Begin without any."""
        self._known: dict[int, Request] = {}

    def __call__(self, event: Event) -> Request:
        """Return the request of an event; of one event it is always the same."""
        # The request holds the event, so that no other event can come to have its identity.
        found = self._known.get(id(event))
        if found is None:
            found = self._known[id(event)] = Request(event)
        return found


def agent_requests(
    events: Iterable[Event], principal: Principal, read: Callable[[Event], Request] = Request
) -> tuple[Request, ...]:
    """Return the agent's requests in log order, one for each call.

    Args:
        events: Merged audit events, see `merged`.
        principal: Whose requests count.
        read: What reads an event as a request.
    """
    issued: set[str] = set(principal.credential_ids)
    requests: list[Request] = []
    for event in events:
        own, agents = _attribution(event, principal, issued)
        if not agents:
            continue
        annotations = event.get("annotations")
        if isinstance(annotations, dict) and _ISSUED in annotations:
            issued.add(str(annotations[_ISSUED]))
        request = read(event)
        request.foreign = not own
        requests.append(request)
    return tuple(_without_retries(requests))


def strangers_requests(
    events: Sequence[Event], principal: Principal, read: Callable[[Event], Request] = Request
) -> tuple[Request, ...]:
    """Return the requests of identities that may have been the agent's, where no address tells.

    Addresses tell nothing where the agent's are not known, or where its own requests came from another one.
    Where they do tell, an entry that names none is open all the same. The control plane and its administrator
    are never the agent.

    Args:
        events: Merged audit events, see `merged`.
        principal: Whose requests are the agent's.
        read: What reads an event as a request.
    """
    own = [event for event in events if principal.username and _username(event) == principal.username]
    told = bool(principal.source_ips) and (
        not own or any(_last_address(one) in principal.source_ips for one in own)
    )
    found = []
    for event in events:
        if told and _last_address(event):
            continue
        user = _username(event)
        if user in ("", principal.username) or user in _OTHERS or user.startswith(_OTHERS_BEGIN):
            continue
        request = read(event)
        request.foreign = True
        found.append(request)
    return tuple(found)


def _last_address(event: Event) -> object:
    addresses = event.get("sourceIPs")
    return addresses[-1] if isinstance(addresses, list | tuple) and addresses else None


def merged(events: Iterable[Mapping[str, Any]]) -> list[Event]:
    """Return one event for each request, in log order: that of its last stage.

    Args:
        events: Audit events, each a JSON object with an integer `seq`; others are left out.
    """
    kept = [one for one in events if isinstance(one, dict) and isinstance(one.get("seq"), int)]
    if len({event.get("auditID") for event in kept}) < len(kept):
        groups: dict[Any, list[Event]] = {}
        for event in kept:
            groups.setdefault(event.get("auditID"), []).append(event)
        kept = [one for group in groups.values() for one in _of_one_identifier(group)]
    kept.sort(key=_place)
    return kept


def _place(event: Event) -> int:
    place: int = event["seq"]
    return place


def _of_one_identifier(group: list[Event]) -> Iterable[Event]:
    """Return one event for each request among events that share an identifier."""
    if len(group) == 1:
        return group
    requests: dict[tuple[object, ...], list[Event]] = {}
    for event in sorted(group, key=lambda one: (one["seq"], _stage(one))):
        key = (
            event.get("requestURI"),
            event.get("verb"),
            event.get("requestReceivedTimestamp"),
            _username(event),
        )
        requests.setdefault(key, []).append(event)
    return [one for events in requests.values() for one in _joined(events)]


def _stage(event: Event) -> int:
    return _STAGES.get(str(event.get("stage")), 3)


def _joined(group: list[Event]) -> list[Event]:
    """Join the stages of a request; a stage that comes twice with other contents is another request."""
    seen: dict[tuple[str, str], list[Event]] = {}
    chains: list[list[Event]] = []
    places: Counter[object] = Counter()
    for event in group:
        alike = seen.setdefault((str(event.get("stage")), str(event.get("stageTimestamp"))), [])
        if any(_is_same(event, former) for former in alike):
            continue
        alike.append(event)
        # The requests before this place have the stage already.
        place = places[event.get("stage")]
        places[event.get("stage")] += 1
        if place == len(chains):
            chains.append([])
        chains[place].append(event)
    return [max(chain, key=_stage) for chain in chains]


def _is_same(one: Event, other: Event) -> bool:
    return one is other or {**one, "seq": 0} == {**other, "seq": 0}


def _attribution(event: Event, principal: Principal, issued: set[str]) -> tuple[bool, bool]:
    """Return whether the identity is the agent's own, and whether the request is the agent's at all."""
    if principal.username and _username(event) == principal.username:
        return True, True
    addresses = event.get("sourceIPs")
    if addresses and principal.source_ips and addresses[-1] in principal.source_ips:
        return False, True
    if not issued:
        return False, False
    extra = (event.get("user") or {}).get("extra") or {}
    shown = extra.get(_CREDENTIAL) or ()
    return False, any(isinstance(value, str) and value in issued for value in shown)


def _without_retries(requests: list[Request]) -> Iterable[Request]:
    """Join calls that were repeated after an answer that asks for a repetition."""
    last: dict[tuple[str, str, str], Request] = {}
    dropped: set[int] = set()
    for request in requests:
        key = (request.verb, request.user, request.uri)
        former = last.get(key)
        if former is not None and former.code in _RETRIED and former.body == request.body:
            request.attempts = former.attempts + 1
            dropped.add(id(former))
        last[key] = request
    return (request for request in requests if id(request) not in dropped)


def _resource(target: Mapping[str, Any]) -> str:
    """Return the plural; measurements have the names of what they measure, and are other objects."""
    group = target.get("apiGroup") or ""
    resource = str(target.get("resource") or "")
    return f"{resource}.{group}" if group == MEASUREMENTS else resource


def _proxied_name(name: str) -> str:
    """Return the object in `name`, `name:port` or `scheme:name:port`, as the proxy subresource takes them."""
    parts = name.split(":")
    return parts[1] if len(parts) == 3 else parts[0]


def _username(event: Event) -> str:
    user = event.get("user")
    name = user.get("username") if isinstance(user, dict) else None
    return name if isinstance(name, str) else str(name or "")


def _object_name(event: Event) -> str:
    for member in ("responseObject", "requestObject"):
        body = event.get(member)
        if isinstance(body, dict) and body.get("kind") != "Status":
            metadata = body.get("metadata")
            name = metadata.get("name") if isinstance(metadata, dict) else None
            if isinstance(name, str) and name:
                return name
    return ""


def _is_all(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(item == "All" for item in value)
