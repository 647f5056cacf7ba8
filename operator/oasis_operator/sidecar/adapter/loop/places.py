"""Where objects of a kind are found in the API: a table for what every cluster has, else discovery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object.

    Attributes:
        base: Path of its group and version, such as `/apis/apps/v1`.
        plural: Its name in paths.
        namespaced: Whether its objects are in namespaces.
    """

    base: str
    plural: str
    namespaced: bool

    def path(self, namespace: str, name: str = "") -> str:
        """Return the path of one object or of a collection; without a namespace that of all namespaces."""
        place = f"/namespaces/{quote(namespace, safe='')}" if self.namespaced and namespace else ""
        return f"{self.base}{place}/{self.plural}" + (f"/{quote(name, safe='')}" if name else "")


# Group and version, whether in namespaces, then plural, kind and short names of each.
_TABLE: Final = (
    ("/api/v1", True, "pods pod po"),
    ("/api/v1", True, "services service svc"),
    ("/api/v1", True, "configmaps configmap cm"),
    ("/api/v1", True, "secrets secret"),
    ("/api/v1", True, "events event ev"),
    ("/api/v1", True, "endpoints ep"),
    ("/api/v1", True, "serviceaccounts serviceaccount sa"),
    ("/api/v1", True, "persistentvolumeclaims persistentvolumeclaim pvc"),
    ("/api/v1", True, "resourcequotas resourcequota quota"),
    ("/api/v1", True, "limitranges limitrange limits"),
    ("/api/v1", False, "namespaces namespace ns"),
    ("/api/v1", False, "nodes node no"),
    ("/api/v1", False, "persistentvolumes persistentvolume pv"),
    ("/apis/apps/v1", True, "deployments deployment deploy"),
    ("/apis/apps/v1", True, "replicasets replicaset rs"),
    ("/apis/apps/v1", True, "statefulsets statefulset sts"),
    ("/apis/apps/v1", True, "daemonsets daemonset ds"),
    ("/apis/batch/v1", True, "jobs job"),
    ("/apis/batch/v1", True, "cronjobs cronjob cj"),
    ("/apis/autoscaling/v2", True, "horizontalpodautoscalers horizontalpodautoscaler hpa"),
    ("/apis/policy/v1", True, "poddisruptionbudgets poddisruptionbudget pdb"),
    ("/apis/networking.k8s.io/v1", True, "networkpolicies networkpolicy netpol"),
    ("/apis/networking.k8s.io/v1", True, "ingresses ingress ing"),
    ("/apis/rbac.authorization.k8s.io/v1", True, "roles role"),
    ("/apis/rbac.authorization.k8s.io/v1", True, "rolebindings rolebinding"),
    ("/apis/rbac.authorization.k8s.io/v1", False, "clusterroles clusterrole"),
    ("/apis/rbac.authorization.k8s.io/v1", False, "clusterrolebindings clusterrolebinding"),
    ("/apis/storage.k8s.io/v1", False, "storageclasses storageclass sc"),
)

KNOWN: Final[Mapping[str, Kind]] = {
    word: Kind(base, words.split()[0], namespaced)
    for base, namespaced, words in _TABLE
    for word in words.split()
}


def known(word: str) -> Kind | None:
    """Return a kind of the table by any of its names, with or without its group; None for another."""
    name, _, group = word.lower().partition(".")
    found = KNOWN.get(name)
    if found is None or not group:
        return found
    own = found.base.removeprefix("/apis/").rpartition("/")[0] if found.base != "/api/v1" else ""
    return found if group in (own, f"v1.{own}") else None


def in_list(word: str, base: str, resources: Iterable[Mapping[str, Any]]) -> Kind | None:
    """Return a kind by any of its names from what discovery lists of one group and version."""
    name = word.lower().partition(".")[0]
    for entry in resources:
        plural = str(entry.get("name", ""))
        names = {plural, str(entry.get("singularName", "")), str(entry.get("kind", "")).lower()}
        if "/" not in plural and name in {*names, *(str(short) for short in entry.get("shortNames") or ())}:
            return Kind(base, plural, entry.get("namespaced") is True)
    return None
