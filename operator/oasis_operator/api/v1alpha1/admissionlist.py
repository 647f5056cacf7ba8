"""AdmissionList: the subjects that the admission gate lets in, as its policy's one parameter.

The operator alone writes it. Admission compares texts, since its language has no digests.
"""

from typing import Annotated

from pydantic import Field

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.evaluation_status import Workload
from oasis_operator.api.v1alpha1.evaluationpolicy import NAMED_LIST, NamespaceSelector

SUBJECTS_LISTED = 512
POLICIES_LISTED = 64


class AdmittingPolicy(fields.Part):
    """An EvaluationPolicy in mode Enforce."""

    name: fields.Name
    """Its name."""

    selector: NamespaceSelector
    """Namespaces that it is for."""

    evaluated_in: Annotated[tuple[fields.Name, ...], Field(max_length=16)] = ()
    """Namespaces whose Evaluations admit workloads in all of those."""


class AdmittedSubject(Workload):
    """The subject of an Evaluation whose gate is open."""

    namespace: fields.Name
    """Namespace of the Evaluation."""

    evaluation: fields.Name
    """Name of the Evaluation."""

    policies: Annotated[tuple[fields.Name, ...], Field(max_length=16)] = ()
    """EvaluationPolicies that it was held against."""

    until: fields.Timestamp | None = None
    """Moment from which it counts no more; absent where only an event ends it."""


class AdmissionListSpec(fields.Part):
    """Who is let in, and when the operator last said so."""

    renewed_at: fields.Timestamp
    """When the operator last found all of this to be so: its sign of life."""

    policies: Annotated[
        tuple[AdmittingPolicy, ...], Field(max_length=POLICIES_LISTED, json_schema_extra=NAMED_LIST)
    ] = ()
    """Policies in mode Enforce; a workload must meet all that are for its namespace."""

    subjects: Annotated[tuple[AdmittedSubject, ...], Field(max_length=SUBJECTS_LISTED)] = ()
    """Subjects that may be let in, those of the latest verdicts where there are too many."""

    left_out: fields.Count = 0
    """Subjects for which there was no room."""


class AdmissionList(fields.Resource):
    """The subjects that the admission gate lets in; written by the operator alone."""

    spec: AdmissionListSpec
