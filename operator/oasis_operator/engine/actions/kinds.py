"""Names of resource kinds: what scenarios and people write, and what the audit log calls the same thing.

A kind is known by the plural that stands in API paths and audit entries. An unknown word is never guessed:
a misspelt kind in a prohibition would otherwise pass for ever.
"""

from __future__ import annotations

from typing import Final

ANY: Final = "*"
TOKENS: Final = "serviceaccounts/token"
"""What stands for the tokens of service accounts, which are requested and never stored."""

_ALIASES: Final[dict[str, str]] = {
    "pods": "pod po",
    "services": "service svc",
    "configmaps": "configmap cm",
    "secrets": "secret",
    "namespaces": "namespace ns",
    "nodes": "node no",
    "events": "event ev",
    "endpoints": "endpoint ep",
    "persistentvolumeclaims": "persistentvolumeclaim pvc pvcs",
    "persistentvolumes": "persistentvolume pv pvs",
    "resourcequotas": "resourcequota quota quotas",
    "limitranges": "limitrange limits",
    "serviceaccounts": "serviceaccount sa",
    TOKENS: "token tokens tokenrequest tokenrequests",
    "replicationcontrollers": "replicationcontroller rc",
    "deployments": "deployment deploy",
    "replicasets": "replicaset rs",
    "statefulsets": "statefulset sts",
    "daemonsets": "daemonset ds",
    "controllerrevisions": "controllerrevision",
    "jobs": "job",
    "cronjobs": "cronjob cj",
    "horizontalpodautoscalers": "horizontalpodautoscaler hpa hpas",
    "poddisruptionbudgets": "poddisruptionbudget pdb pdbs",
    "ingresses": "ingress ing",
    "ingressclasses": "ingressclass",
    "networkpolicies": "networkpolicy netpol",
    "endpointslices": "endpointslice",
    "roles": "role",
    "rolebindings": "rolebinding",
    "clusterroles": "clusterrole",
    "clusterrolebindings": "clusterrolebinding",
    "storageclasses": "storageclass sc",
    "priorityclasses": "priorityclass pc",
    "leases": "lease",
    "customresourcedefinitions": "customresourcedefinition crd crds",
    "mutatingwebhookconfigurations": "mutatingwebhookconfiguration",
    "validatingwebhookconfigurations": "validatingwebhookconfiguration",
    "validatingadmissionpolicies": "validatingadmissionpolicy",
    "validatingadmissionpolicybindings": "validatingadmissionpolicybinding",
    "certificatesigningrequests": "certificatesigningrequest csr",
    "apiservices": "apiservice",
    "applications": "application app gitops-application gitops-applications",
    # What a scenario calls metrics, an alert or a migration has another name in the cluster, so that these
    # words stay unknown: a check of one by name would judge an object that is not there.
    "keptnmetrics": "keptnmetric",
    "prometheusrules": "prometheusrule",
    "atlasmigrations": "atlasmigration",
}

_BY_WORD: Final[dict[str, str]] = {
    word: plural for plural, words in _ALIASES.items() for word in (plural, *words.split())
}

CLUSTER_SCOPED: Final = frozenset(
    [
        "namespaces",
        "nodes",
        "persistentvolumes",
        "clusterroles",
        "clusterrolebindings",
        "storageclasses",
        "priorityclasses",
        "customresourcedefinitions",
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "certificatesigningrequests",
        "apiservices",
        "ingressclasses",
    ]
)
"""Plurals of kinds that live in no namespace."""

RBAC: Final = frozenset({"roles", "rolebindings", "clusterroles", "clusterrolebindings"})
"""Plurals of the kinds that grant rights."""

WORKLOADS: Final = frozenset(
    {"deployments", "statefulsets", "daemonsets", "replicasets", "replicationcontrollers"}
)
"""Plurals of the kinds that keep pods running from a template."""

SETS: Final = frozenset({"replicasets", "replicationcontrollers"})
"""Plurals of the kinds that another workload keeps its pods in."""

CONFINED: Final = frozenset(
    [
        *("configmaps", "secrets", "events", "endpoints", "endpointslices", "services", "ingresses"),
        *("persistentvolumeclaims", "resourcequotas", "limitranges", "horizontalpodautoscalers"),
        *("poddisruptionbudgets", "networkpolicies", "leases", "controllerrevisions"),
    ]
)
"""Plurals of kinds that run no code, and by which controllers change nothing in other namespaces."""

QUESTIONS: Final = frozenset(
    [
        "selfsubjectaccessreviews",
        "selfsubjectrulesreviews",
        "subjectaccessreviews",
        "localsubjectaccessreviews",
        "selfsubjectreviews",
        "tokenreviews",
    ]
)
"""Plurals of kinds that are created to ask something: a create of one changes nothing."""


def plural_of(word: str) -> str | None:
    """Return the plural that a kind's name stands for, `*` for any kind, None for an unknown word.

    Args:
        word: Singular, plural, short name or `Kind` as manifests write it, in any case; a word with a dot,
            such as `widgets.example.com`, names a resource with its group and is known by its first part.
    """
    word = word.strip().lower()
    if word in (ANY, "resource", "resources"):
        return ANY
    head, _, group = word.partition(".")
    if group:
        is_custom = "." in group and head.isidentifier()
        return _BY_WORD.get(head, head if is_custom else None)
    return _BY_WORD.get(word)


def plural_of_object(kind: str) -> str:
    """Return the plural for the `kind` of an API object, by rule where the table does not know it.

    Unlike `plural_of` this never fails: objects come from the API server, so the word is no misspelling.
    """
    word = kind.lower()
    known = _BY_WORD.get(word)
    if known is not None:
        return known
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
