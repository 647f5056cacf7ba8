"""The status of a pod with a failing container, as a template of the program that plays the nodes.

The template is preceded by assignments, made by `stages`; it is the same for every failure. Values come in as
quoted literals of the template language, which are those of JSON.
"""

TEMPLATE = """
{{ $now := now | date "2006-01-02T15:04:05Z07:00" }}
{{ $before := now | date_modify "-4s" | date "2006-01-02T15:04:05Z07:00" }}
{{ $pod := . }}
{{ $was := dict }}
{{ range concat (list) (or .status.initContainerStatuses list) (or .status.containerStatuses list) }}
{{ $_ := set $was .name . }}
{{ end }}
{{ $restarts := $first }}
{{ if and $again $last }}{{ $restarts = add (int (toString (get $was $failing).restartCount)) 1 }}{{ end }}
phase: {{ $phase }}
{{ if $reason }}
reason: {{ $reason }}
message: {{ $told | Quote }}
{{ end }}
qosClass: {{ .status.qosClass | Quote }}
conditions:
- type: PodReadyToStartContainers
  status: "True"
  lastProbeTime: null
  lastTransitionTime: {{ $now | Quote }}
- type: Initialized
  status: {{ ternary "False" "True" $init | Quote }}
  {{ if $init }}
  reason: ContainersNotInitialized
  message: {{ printf "containers with incomplete status: [%s]" $failing | Quote }}
  {{ end }}
  lastProbeTime: null
  lastTransitionTime: {{ $now | Quote }}
{{ range list "Ready" "ContainersReady" }}
- type: {{ . }}
  status: {{ ternary "True" "False" $well | Quote }}
  {{ if $well }}
  reason: null
  message: null
  {{ else }}
  reason: {{ if eq $phase "Failed" }}PodFailed{{ else }}ContainersNotReady{{ end }}
  {{ $unready := ternary (first $pod.spec.containers).name $failing $init }}
  message: {{ printf "containers with unready status: [%s]" $unready | Quote }}
  {{ end }}
  lastProbeTime: null
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
{{ $init_containers := or .spec.initContainers list }}
{{ $lists := dict "initContainerStatuses" $init_containers "containerStatuses" .spec.containers }}
{{ range $member, $containers := $lists }}
{{ if $containers }}
{{ $member }}:
{{ range $containers }}
{{ $id := printf "containerd://%s" (sha256sum (printf "%s/%s/%s" $pod.metadata.uid .name $now)) }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: {{ printf "%s@sha256:%s" (regexReplaceAll "(@|:[^/:]*$).*" .image "") (sha256sum .image) | Quote }}
  {{ if eq .name $failing }}
  {{ $since := $before }}
  {{ if $well }}
  {{ $old := get $was .name }}
  {{ $id = $old.containerID }}
  {{ $since = $old.state.running.startedAt }}
  {{ end }}
  {{ $text := $message | replace "<container>" .name | replace "<image>" .image }}
  {{ $text = $text | replace "<pod>" $pod.metadata.name | replace "<uid>" $pod.metadata.uid }}
  ready: {{ $well }}
  restartCount: {{ $restarts }}
  {{ if eq $mode "running" }}
  started: true
  containerID: {{ $id | Quote }}
  state: {running: {startedAt: {{ $since | Quote }}}}
  {{ else if eq $mode "terminated" }}
  started: false
  containerID: {{ $id | Quote }}
  state:
    terminated:
      exitCode: {{ $code }}
      reason: {{ $last }}
      startedAt: {{ $before | Quote }}
      finishedAt: {{ $now | Quote }}
      containerID: {{ $id | Quote }}
  {{ else }}
  started: false
  state: {waiting: {reason: {{ $waiting }}, message: {{ $text | Quote }}}}
  {{ end }}
  {{ if and $last (eq $mode "waiting") }}
  containerID: {{ $id | Quote }}
  lastState:
    terminated:
      exitCode: {{ $code }}
      reason: {{ $last }}
      startedAt: {{ $before | Quote }}
      finishedAt: {{ $now | Quote }}
      containerID: {{ $id | Quote }}
  {{ end }}
  {{ else if eq $member "initContainerStatuses" }}
  ready: true
  started: false
  restartCount: 0
  containerID: {{ $id | Quote }}
  state:
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{ $before | Quote }}
      finishedAt: {{ $before | Quote }}
  {{ else if $init }}
  ready: false
  started: false
  restartCount: 0
  state: {waiting: {reason: PodInitializing}}
  {{ else }}
  ready: true
  started: true
  restartCount: 0
  containerID: {{ $id | Quote }}
  state: {running: {startedAt: {{ $now | Quote }}}}
  {{ end }}
{{ end }}
{{ end }}
{{ end }}
{{ $hosts := NodeIPsWith .spec.nodeName }}
hostIP: {{ index $hosts 0 | Quote }}
hostIPs: [{ip: {{ index $hosts 0 | Quote }}}]
{{ $ip := .status.podIP }}
{{ if not $ip }}
{{ $host := or .spec.hostNetwork false }}
{{ $ip = PodIPWith .spec.nodeName $host .metadata.uid .metadata.name .metadata.namespace }}
{{ end }}
podIP: {{ $ip | Quote }}
podIPs: [{ip: {{ $ip | Quote }}}]
startTime: {{ or .status.startTime $now | Quote }}
"""
