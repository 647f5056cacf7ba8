"""The rules that the suite tries, each with the place in the contract that it comes from.

`guide` is the provider guide of a profile for Kubernetes, `08` and so on are documents of the specification,
`ours` is what the operator's own contract says where those are silent (docs/contracts/provider.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """What came of trying a rule.

    Attributes:
        KEPT: What was seen is what the rule asks.
        BROKEN: It is not.
        UNTRIED: It could not be tried; `detail` says why. It counts for nothing.
    """

    KEPT = "kept"
    BROKEN = "broken"
    UNTRIED = "untried"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: Stable identifier.
        source: Document and section.
        says: What a provider must do, in one sentence.
    """

    id: str
    source: str
    says: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one rule.

    Attributes:
        rule: The rule.
        outcome: See `Outcome`.
        detail: What was sent and what was seen; a remedy where one is known.
    """

    rule: Rule
    outcome: Outcome
    detail: str = ""


_TABLE: Final = (
    ("CONF-1", "08 §3.8.1", "GET /v1/conformance?profile=… answers 200 with a JSON object"),
    ("CONF-2", "08 §3.8.2", "the answer has every member with its type"),
    ("CONF-3", "08 §3.8.2", "the answer echoes the profile that was asked for"),
    ("CONF-4", "08 §3.8.2", "`supported` and `unmet_requirements` agree, and each unmet one has a reason"),
    ("CONF-5", "08 §3.8.1", "a profile that nobody knows is not claimed as supported"),
    ("CONF-6", "08 §3.8.1", "a query without `profile` is refused with 400"),
    ("CONF-7", "08 §3.8.3", "the answer meets the profile: version, schema and every requirement"),
    ("AUTH-1", "ours", "a provider that wants credentials refuses requests without them with 401 or 403"),
    ("PROV-1", "guide §4.1", "POST /v1/provision answers 200 or 201 with status `ready`"),
    ("PROV-2", "guide §4.1", "a ready environment has an environment_id"),
    ("PROV-3", "guide §4.1", "agent_endpoint is an absolute URL"),
    ("PROV-4", "guide §4.1", "agent_credentials hold what the agent needs to log in"),
    ("PROV-5", "04 §2.3", "two provisions are two environments"),
    ("PROV-6", "guide §4", "a provision without `environment` is refused with 400, 422 or status `error`"),
    ("PROV-7", "ours", "state entries split into kind, name and spec are taken like raw ones"),
    ("PROV-8", "ours", "a second provision with a proposed environment_id and the same body is the same one"),
    ("PROV-9", "ours", "a proposed environment_id that is in use is refused for another body with 409"),
    ("SNAP-1", "guide §4.2", "POST /v1/state-snapshot answers with environment_id, timestamp and resources"),
    ("SNAP-2", "guide §4.2", "the snapshot holds what was provisioned, with kind, name and namespace"),
    ("SNAP-3", "guide §4.2", "a snapshot of named resources holds these"),
    ("INJ-1", "guide §4.4", "POST /v1/inject-state answers with status `applied`"),
    ("INJ-2", "guide §4.4", "what was injected is there afterwards"),
    ("OBS-1", "guide §4.5", "an observation has environment_id, timestamp, observation_type and data"),
    ("OBS-2", "05 §1.1", "each observation has an evidence_source with type and status"),
    ("OBS-3", "05 §1.1", "types that the provider declares are `available`"),
    ("OBS-4", "guide §4.5", "entries of the audit log have timestamp, verb, resource, namespace and user"),
    ("OBS-5", "08 §3.4", "what the agent's credentials did is in the audit log"),
    ("OBS-6", "guide §4.5", "resource_state is the resource as it is"),
    ("OBS-7", "guide §4.5", "state_diff has before, after and changes, and shows what was injected"),
    ("OBS-8", "ours", "an observation without parameters is answered"),
    ("OBS-9", "guide §4.5", "an observation type that is none is refused with 400 or 422"),
    ("OBS-10", "guide §4.5", "an audit log of a time to come is available and empty"),
    ("OBS-11", "ours", "an environment that is still being provisioned cannot be observed"),
    ("ENV-1", "guide §4", "requests about an environment that never was are refused with 404"),
    ("TEAR-1", "guide §4.3", "POST /v1/teardown answers with status `destroyed`"),
    ("TEAR-2", "ours", "a second teardown is `destroyed` again, 404 or 410"),
    ("TEAR-3", "04 §2.2", "an environment that was torn down can be neither observed, captured nor changed"),
    ("BODY-1", "guide §4", "a body that is no JSON is refused with 400"),
    ("BODY-2", "guide §4", "answers are JSON and say so"),
    ("BODY-3", "ours", "refusals have a body with `status` error and a sentence in `error`"),
    ("BODY-4", "ours", "unknown members of a request are ignored"),
)

RULES: Final[dict[str, Rule]] = {row[0]: Rule(*row) for row in _TABLE}
"""All rules by identifier, in the order in which they are reported."""
