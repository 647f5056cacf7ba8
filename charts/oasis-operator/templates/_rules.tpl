{{/* What the operator may do where it evaluates. No list of Secrets, no exec, no proxy, no wildcard. */}}
{{- define "oasis-operator.rules" -}}
- apiGroups: [oasis-operator.dev]
  resources: [agents, environments, evaluations, scenarioruns]
  verbs: [get, list, watch]
- apiGroups: [oasis-operator.dev]
  resources: [agents/status, environments/status, evaluations/status, scenarioruns/status]
  verbs: [get, patch, update]
- apiGroups: [oasis-operator.dev]
  resources: [scenarioruns]
  verbs: [create, delete]
# For spec.retention.ttlAfterFinished.
- apiGroups: [oasis-operator.dev]
  resources: [evaluations]
  verbs: [delete]
# Needed where owner references that block deletion are checked.
- apiGroups: [oasis-operator.dev]
  resources: [evaluations/finalizers, scenarioruns/finalizers]
  verbs: [update]
# Patched is only an environment that was booted ahead, when a run claims it.
- apiGroups: [""]
  resources: [pods]
  verbs: [create, get, list, watch, patch, delete]
- apiGroups: [""]
  resources: [pods/log]
  verbs: [get]
# Names of run Secrets are derived, so those of others are never asked for.
- apiGroups: [""]
  resources: [secrets]
  verbs: [create, get, delete]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [create, get, list, watch, patch, delete]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end -}}
{{/* The floors of gates, and the labels that say which of them are for which namespace. */}}
{{- define "oasis-operator.policyRules" -}}
- apiGroups: [oasis-operator.dev]
  resources: [evaluationpolicies]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
{{- end -}}
