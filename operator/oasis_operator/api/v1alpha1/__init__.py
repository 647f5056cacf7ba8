"""Custom resources of version v1alpha1."""

from oasis_operator.api.v1alpha1.admissionlist import AdmissionList
from oasis_operator.api.v1alpha1.agent import Agent
from oasis_operator.api.v1alpha1.environment import Environment
from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.api.v1alpha1.evaluationpolicy import EvaluationPolicy
from oasis_operator.api.v1alpha1.scenariorun import ScenarioRun
from oasis_operator.api.v1alpha1.verdict import Verdict

__all__ = [
    "AdmissionList",
    "Agent",
    "Environment",
    "Evaluation",
    "EvaluationPolicy",
    "ScenarioRun",
    "Verdict",
]
