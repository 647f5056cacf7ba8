{{/* Full name of the objects. */}}
{{- define "oasis-operator.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" (.Release.Name | trunc 37 | trimSuffix "-") .Chart.Name -}}
{{- end -}}
{{- end -}}

{{/* The sandbox policies admit pods with exactly this name, so it cannot be overridden. */}}
{{- define "oasis-operator.selectorLabels" -}}
app.kubernetes.io/name: oasis-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "oasis-operator.labels" -}}
{{ include "oasis-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: operator
app.kubernetes.io/part-of: oasis-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name (.Chart.Version | replace "+" "_") }}
{{- end -}}

{{- define "oasis-operator.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "oasis-operator.fullname" .) -}}
{{- end -}}

{{- define "oasis-operator.claimName" -}}
{{- .Values.artifacts.volume.persistentVolumeClaim.existingClaim | default (printf "%s-artifacts" (include "oasis-operator.fullname" .)) -}}
{{- end -}}

{{/* Where served environments are: a namespace in which the operator has its rights. */}}
{{- define "oasis-operator.providerNamespace" -}}
{{- $namespace := .Values.providerApi.namespace | default .Release.Namespace -}}
{{- if and .Values.watchNamespaces (not (has $namespace .Values.watchNamespaces)) -}}
{{- fail (printf "providerApi.namespace: %s: want one of watchNamespaces, since the operator has no rights elsewhere" $namespace) -}}
{{- end -}}
{{- $namespace -}}
{{- end -}}

{{/* DNS names of the provider API's Service. */}}
{{- define "oasis-operator.providerNames" -}}
{{- $name := printf "%s-provider" (include "oasis-operator.fullname" .) -}}
{{- list $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace) (printf "%s.%s.svc.cluster.local" $name .Release.Namespace) | join "," -}}
{{- end -}}

{{/* An image reference: (list root image). */}}
{{- define "oasis-operator.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository ($image.tag | default $root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* The namespaces that a guard covers: another release may have an operator of its own in others. */}}
{{- define "oasis-operator.guardedNamespaces" -}}
namespaceSelector:
  matchExpressions:
    - key: oasis-operator.dev/sandbox-guard
      operator: NotIn
      values: ["off"]
    {{- with .Values.watchNamespaces }}
    - key: kubernetes.io/metadata.name
      operator: In
      values: {{ toJson . }}
    {{- end }}
{{- end -}}
