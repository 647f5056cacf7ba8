"""Services, Ingresses and NetworkPolicies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oasis_operator.world.manifests import (
    Built,
    Condition,
    Expectation,
    Json,
    Kind,
    Manifest,
    Surroundings,
    build_object,
)

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

_USUAL_PORT: Json = {"port": 80, "targetPort": 8080}
_PORT_FIELDS = frozenset(["name", "port", "targetPort", "protocol", "nodePort", "appProtocol"])
_POLICY_FIELDS = frozenset(["podSelector", "policyTypes", "ingress", "egress"])


def build_service(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a Service; without a selector it selects the workload of its own name, without ports port 80.

    Its endpoints follow from the pods; that there are none can be declared, and is then proven.
    """
    kind = reader.choice("type", ("ClusterIP", "NodePort", "LoadBalancer"), "ClusterIP")
    ports = [_port(reader, item) for item in reader.items("ports")]
    single = reader.count("port", low=1, high=65535)
    if single is not None:
        ports.append({"port": single, "targetPort": single})
    selector = reader.texts("selector") or {"app": reader.entry.name}
    body = build_object(
        "v1", "Service", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"),
        spec={"type": kind, "selector": selector, "ports": _named(ports) or [_USUAL_PORT]},
    )  # fmt: skip
    built = Built([Manifest(reader.entry.index, body)])
    if "endpoints" in reader.entry.fields:
        if endpoints := reader.items("endpoints"):
            reader.refuse("endpoints", endpoints, "possible is []: they follow from the pods that it selects")
        name = reader.entry.name
        built.expectations.append(
            Expectation(Kind.SERVICE, reader.namespace, name, Condition.NO_ENDPOINTS, message=name)
        )
    return built


def build_ingress(reader: Reader, around: Surroundings) -> Built:
    """Build an Ingress with one rule; without a backend it leads to the only Service of its namespace.

    One that returns 503 has a backend without endpoints, which is proven.
    """
    status = reader.choice("status", ("serving", Condition.RETURNING_503), "serving")
    backend = reader.text("backend").removeprefix("service/")
    if not backend:
        services = [name for kind, ns, name in around.names if (kind, ns) == ("service", reader.namespace)]
        backend = services[0] if len(services) == 1 else ""
    if not backend:
        reader.refuse("backend", None, "want the name of a service, since there is not exactly one")
    port = reader.count("port", 80, low=1, high=65535)
    host, path = reader.text("host"), reader.text("path", "/")
    tls = reader.text("tls_secret")
    target: Json = {"service": {"name": backend, "port": {"number": port}}}
    rule: Json = {"http": {"paths": [{"path": path, "pathType": "Prefix", "backend": target}]}}
    if host:
        rule["host"] = host
    spec: Json = {"ingressClassName": reader.text("class", "nginx"), "rules": [rule]}
    if tls:
        spec["tls"] = [{"secretName": tls, **({"hosts": [host]} if host else {})}]
    body = build_object(
        "networking.k8s.io/v1", "Ingress", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"), spec=spec,
    )  # fmt: skip
    built = Built([Manifest(reader.entry.index, body)])
    if status == Condition.RETURNING_503:
        built.expectations.append(
            Expectation(
                Kind.INGRESS, reader.namespace, reader.entry.name, Condition.RETURNING_503, message=backend
            )
        )
    return built


def build_networkpolicy(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a NetworkPolicy from its specification, whole or field by field."""
    spec = reader.mapping("spec")
    for field in sorted(_POLICY_FIELDS):
        value = reader.take(field)
        if value is not None:
            spec[field] = value
    for field in sorted(set(spec) - _POLICY_FIELDS):
        reader.refuse(f"spec.{field}", spec[field], "not a field of a NetworkPolicy")
    spec.setdefault("podSelector", {})
    body = build_object(
        "networking.k8s.io/v1", "NetworkPolicy", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"), spec=spec,
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def _port(reader: Reader, item: object) -> Json:
    if isinstance(item, int) and not isinstance(item, bool):
        return {"port": item}
    if not isinstance(item, Mapping) or "port" not in item:
        reader.refuse("ports", item, "want a port number or a mapping with port")
        return {"port": 80}
    for field in sorted(set(item) - _PORT_FIELDS):
        reader.refuse(f"ports.{field}", item[field], "not a field of a port")
    return dict(item)


def _named(ports: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Name the ports where there are several, as Kubernetes asks for it."""
    if len(ports) < 2:
        return ports
    return [{"name": f"port-{port['port']}", **port} for port in ports]
