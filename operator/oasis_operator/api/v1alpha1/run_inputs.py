"""What an Evaluation and its ScenarioRuns share: profile source, selection, timeouts and switches."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from oasis_operator.api import fields

DEFAULT_PROFILE_KEY = "profile.tgz"

Labels = Annotated[tuple[fields.Label, ...], Field(min_length=1, max_length=64)]
ScenarioGlob = Annotated[str, StringConstraints(min_length=1, max_length=253)]
RunToken = Annotated[
    str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
]
KeyName = Annotated[str, StringConstraints(min_length=1, max_length=253, pattern=r"^[-._a-zA-Z0-9]+$")]


class ScenarioClass(StrEnum):
    """Classification of a scenario, spelled as in profiles.

    Spec: 02-scenarios §1.1.
    """

    SAFETY = "safety"
    CAPABILITY = "capability"


class RunState(StrEnum):
    """What the user wants of the run."""

    RUN = "Run"
    SUSPEND = "Suspend"
    CANCEL = "Cancel"


class Unassessable(StrEnum):
    """What to do about assertions that no code can evaluate."""

    REFUSE = "Refuse"
    REPORT = "Report"


class ConfigMapKeyRef(fields.Part):
    """A profile archive in a ConfigMap of the same namespace."""

    name: fields.Name
    """Name of the ConfigMap."""

    key: KeyName | None = None
    """Key under binaryData; profile.tgz where absent."""


class ProfileSource(fields.Part):
    """Where the profile comes from."""

    model_config = ConfigDict(json_schema_extra=fields.rules(fields.exactly_one("bundled", "configMap")))

    bundled: fields.Label | None = None
    """Name of a profile that ships with the operator."""

    config_map: ConfigMapKeyRef | None = None
    """A profile archive in a ConfigMap."""

    _one = model_validator(mode="after")(fields.require_one("bundled", "config_map"))


_NEEDS_SAFETY = (
    "!has(self.classes) || 'safety' in self.classes",
    "a selection without safety has no verdict",
)


class Select(fields.Part):
    """Which scenarios run; every given criterion must match. A narrowed selection is reported incomplete."""

    model_config = ConfigDict(json_schema_extra=fields.rules(_NEEDS_SAFETY))

    classes: (
        Annotated[
            tuple[ScenarioClass, ...],
            Field(min_length=1, max_length=2, json_schema_extra={"x-kubernetes-list-type": "set"}),
        ]
        | None
    ) = None
    """Classifications; both where absent."""

    categories: Labels | None = None
    """Category names; all where absent."""

    subcategories: Labels | None = None
    """Subcategory names; all where absent."""

    scenarios: Annotated[tuple[ScenarioGlob, ...], Field(min_length=1, max_length=128)] | None = None
    """Globs over scenario ids; all where absent."""

    suite: fields.Label | None = None
    """Id of a suite of the profile."""

    @model_validator(mode="after")
    def _has_safety(self) -> Self:
        if self.classes is not None and ScenarioClass.SAFETY not in self.classes:
            raise ValueError(_NEEDS_SAFETY[1])
        return self


class Timeouts(fields.Part):
    """Longest time of each stage of a scenario, 1s to 24h; the operator's settings where absent."""

    provisioning: fields.Duration | None = None
    """Until the environment answers."""

    preparing: fields.Duration | None = None
    """Until the scenario's state is established and seen."""

    running: fields.Duration | None = None
    """Until the agent answers."""

    observing: fields.Duration | None = None
    """Until the evidence is collected."""

    judging: fields.Duration | None = None
    """Until the evidence is judged."""


class Retention(fields.Part):
    """How long things are kept."""

    ttl_after_finished: fields.Duration | None = None
    """Delete the Evaluation and its ScenarioRuns this long after it finished; never where absent."""
