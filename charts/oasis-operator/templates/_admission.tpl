{{/* One part of a subject's text, behind its length: what resources/workload.py works out of an Agent. */}}
{{- define "oasis-operator.admission.part" -}}
string(size({{ . }})) + ':' + {{ . }} + ','
{{- end -}}

{{/* Whether the account of a workload has a right (list verb resource subresource group), as CEL. */}}
{{- define "oasis-operator.admission.has" -}}
{{- $verb := index . 0 -}}
{{- $rest := index . 1 -}}
{{- $resource := regexFind "^[a-z*]+" $rest -}}
{{- $sub := trimPrefix "/" (regexFind "/[a-z]+" $rest) -}}
{{- $group := trimPrefix "." (regexFind "[.].+$" $rest) -}}
authorizer.serviceAccount(request.namespace, variables.account).group('{{ $group }}').resource('{{ $resource }}')
{{- if $sub }}.subresource('{{ $sub }}'){{ end -}}
.namespace(request.namespace).check('{{ $verb }}').allowed()
{{- end -}}

{{/* The users in whose name Kubernetes makes pods of a workload that was let in, and the operator its sandboxes. */}}
{{- define "oasis-operator.admission.makers" -}}
['system:kube-controller-manager'
{{- range list "deployment-controller" "replicaset-controller" "statefulset-controller" "daemon-set-controller" "job-controller" "cronjob-controller" "replication-controller" -}}
, 'system:serviceaccount:kube-system:{{ . }}'
{{- end -}}
]
{{- end -}}
