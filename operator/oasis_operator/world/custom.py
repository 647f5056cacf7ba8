"""Objects of any other kind: the author names the kind, and its definition is made with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from oasis_operator.world.definitions import KINDS, CustomKind, build_custom, build_definition
from oasis_operator.world.entries import is_label, is_subdomain
from oasis_operator.world.manifests import Built, Manifest, Surroundings

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

_API_VERSION = re.compile(r"([a-z0-9.-]+)/(v[0-9]+(?:(?:alpha|beta)[0-9]+)?)")
_KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,61}")
#: The API server's own groups; a definition in one of them would contradict it.
_RESERVED = (".k8s.io", ".kubernetes.io")
_OWN = frozenset({"apps", "batch", "autoscaling", "policy", "extensions"})


def build_object_of_any_kind(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build an object whose ``api_version`` and ``object_kind`` the entry gives, and the kind's definition.

    The definition leaves ``spec`` and ``status`` open; the plural is the kind in small letters and an s.
    """
    version = _API_VERSION.fullmatch(reader.text("api_version"))
    kind = reader.text("object_kind")
    namespaced = reader.flag("namespaced", default=True)
    spec, status = reader.mapping("spec"), reader.mapping("status")
    labels, annotations = reader.texts("labels"), reader.texts("annotations")
    group = version[1] if version else ""
    if version is None or not is_subdomain(group) or "." not in group:
        reader.refuse("api_version", group or None, "want group/version, such as example.com/v1")
        return Built()
    if group in _OWN or group.endswith(_RESERVED):
        reader.refuse("api_version", group, "a group of the API server itself; use the kind's own word")
    if not _KIND.fullmatch(kind) or not is_label(f"{kind.lower()}s"):
        reader.refuse("object_kind", kind or None, "want a kind such as Backup")
        return Built()
    if kind in KINDS and KINDS[kind].group == group:
        reader.refuse(
            "object_kind", kind, "is built from an entry of its own, such as gitops-application/NAME"
        )
    custom = CustomKind(
        group, version[2], kind, f"{kind.lower()}s", namespaced=bool(namespaced), status=False
    )
    if reader.entry.namespace and not namespaced:
        reader.refuse("namespace", reader.entry.namespace, f"a {kind} is in no namespace")
    body = build_custom(
        custom, reader.entry.name, reader.namespace if namespaced else None,
        labels=labels, annotations=annotations, spec=spec or None, status=status or None,
    )  # fmt: skip
    return Built([Manifest(-1, build_definition(custom)), Manifest(reader.entry.index, body)])
