{{/* The operator's variables; oasis_operator/settings.py reads them and refuses those it does not know. */}}
{{- define "oasis-operator.env" -}}
- name: OASIS_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: OASIS_POD_IP
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
- name: OASIS_NODE_IP
  valueFrom:
    fieldRef:
      fieldPath: status.hostIP
- name: OASIS_NODE_PORT
  value: {{ .Values.nodePort | quote }}
- name: OASIS_WATCH_NAMESPACES
  value: {{ join "," .Values.watchNamespaces | quote }}
- name: OASIS_SIDECAR_IMAGE
  value: {{ include "oasis-operator.image" (list . .Values.images.sidecar) | quote }}
- name: OASIS_SANDBOX_IMAGE
  value: {{ include "oasis-operator.image" (list . .Values.images.sandbox) | quote }}
- name: OASIS_IMAGE_PULL_POLICY
  value: {{ .Values.images.pullPolicy | quote }}
- name: OASIS_IMAGE_PULL_SECRETS
  value: {{ join "," .Values.images.pullSecrets | quote }}
- name: OASIS_ARTIFACTS_DIR
  value: /var/lib/oasis/artifacts
- name: OASIS_PARALLELISM
  value: {{ .Values.parallelism | int | quote }}
- name: OASIS_NAMESPACE_PARALLELISM
  value: {{ .Values.namespaceParallelism | int | quote }}
- name: OASIS_WARM_BOOTS
  value: {{ .Values.sandbox.warmBoots | int | quote }}
- name: OASIS_RUNTIME_CLASS_NAME
  value: {{ .Values.sandbox.runtimeClassName | quote }}
- name: OASIS_API_SERVER_HOST
  value: {{ .Values.apiServer.host | quote }}
- name: OASIS_API_SERVER_PORT
  value: {{ .Values.apiServer.port | int | default "" | quote }}
- name: OASIS_HEALTH_PORT
  value: "8080"
- name: OASIS_REACHABILITY_PORT
  value: "9444"
{{- range $stage, $seconds := .Values.sandbox.timeoutsSeconds }}
- name: OASIS_{{ upper $stage }}_TIMEOUT_SECONDS
  value: {{ $seconds | int | quote }}
{{- end }}
- name: OASIS_SETTLE_SECONDS
  value: {{ .Values.sandbox.settleSeconds | int | quote }}
- name: OASIS_CONTROL_PLANE_RESOURCES
  value: {{ .Values.sandbox.resources.controlPlane | toJson | quote }}
- name: OASIS_AGENT_RESOURCES
  value: {{ .Values.sandbox.resources.agent | toJson | quote }}
- name: OASIS_SIDECAR_RESOURCES
  value: {{ .Values.sandbox.resources.sidecar | toJson | quote }}
- name: OASIS_RESYNC_SECONDS
  value: {{ .Values.resyncSeconds | int | quote }}
- name: OASIS_READ_POLICIES
  value: {{ or (empty .Values.watchNamespaces) .Values.policies.clusterRole | quote }}
- name: OASIS_ADMISSION_LIST
  value: {{ .Values.admissionGate.enabled | ternary (include "oasis-operator.fullname" .) "" | quote }}
- name: OASIS_MODEL_ORIGINS
  value: {{ join "," .Values.models.origins | quote }}
{{- with .Values.providerApi }}
{{- if .enabled }}
- name: OASIS_PROVIDER_API
  value: "true"
- name: OASIS_PROVIDER_API_NAMESPACE
  value: {{ include "oasis-operator.providerNamespace" $ | quote }}
- name: OASIS_PROVIDER_API_ENVIRONMENT
  value: {{ .environment | quote }}
- name: OASIS_PROVIDER_API_PORT
  value: "8444"
- name: OASIS_PROVIDER_API_SERVER_NAMES
  value: {{ include "oasis-operator.providerNames" $ | quote }}
{{- if .certificateSecret }}
- name: OASIS_PROVIDER_API_CERTIFICATE_DIR
  value: /etc/oasis/provider-tls
{{- end }}
{{- if .tokenSecret }}
- name: OASIS_PROVIDER_API_TOKEN_FILE
  value: /etc/oasis/provider-token/token
{{- else }}
- name: OASIS_PROVIDER_API_AUDIENCE
  value: {{ required "providerApi: want audience or tokenSecret" .audience | quote }}
- name: OASIS_PROVIDER_API_USERS
  value: {{ join "," .users | quote }}
{{- end }}
- name: OASIS_PROVIDER_API_AGENT_PEERS
  value: {{ .agentPeers | toJson | quote }}
- name: OASIS_PROVIDER_API_PROVISIONS
  value: {{ .provisions | int | quote }}
- name: OASIS_PROVIDER_API_ENVIRONMENTS
  value: {{ .environments | int | quote }}
- name: OASIS_PROVIDER_API_MAX_AGE_SECONDS
  value: {{ .maxAgeSeconds | int | quote }}
{{- end }}
{{- end }}
- name: OASIS_LOG_LEVEL
  value: {{ .Values.logLevel | quote }}
{{- end -}}
