{{/* Duration in seconds, rounded down. */}}
{{- define "gpuscope.seconds" -}}
{{- $sum := 0 -}}
{{- $units := dict "s" 1 "m" 60 "h" 3600 "d" 86400 -}}
{{- range regexFindAll "[0-9]+(ms|s|m|h|d)" . -1 -}}
{{- $unit := regexFind "[a-z]+" . -}}
{{- if ne $unit "ms" -}}
{{- $sum = add $sum (mul (int (regexFind "[0-9]+" .)) (get $units $unit)) -}}
{{- end -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{/* One endpoint: root, values of the component, times, and job. */}}
{{- define "gpuscope.endpoint" -}}
{{- $monitor := .root.Values.monitor -}}
port: metrics
path: /metrics
scheme: {{ .values.web.scheme }}
interval: {{ .times.interval }}
scrapeTimeout: {{ .times.scrapeTimeout }}
# Series bring namespace, pod and container of those who hold a GPU, or whose job it is. The target's own would take their
# place, or stand for a holder where there is none.
honorLabels: true
relabelings:
  - action: replace
    sourceLabels: [__meta_kubernetes_pod_node_name]
    targetLabel: node
  - action: replace
    targetLabel: job
    replacement: {{ .job }}
  {{- with .root.Values.cluster }}
  - action: replace
    targetLabel: cluster
    replacement: {{ . | quote }}
  {{- end }}
  - action: labeldrop
    regex: namespace|pod|container|service|endpoint
  {{- with $monitor.relabelings }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $monitor.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if eq .values.web.scheme "https" }}
{{- with $monitor.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with $monitor.basicAuth }}
basicAuth:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A PodMonitor or ServiceMonitor: root, component, times, job. */}}
{{- define "gpuscope.monitor" -}}
{{- $monitor := .root.Values.monitor -}}
{{- $values := index .root.Values .component -}}
apiVersion: monitoring.coreos.com/v1
kind: {{ $monitor.kind }}
metadata:
  {{- include "gpuscope.metadata" (dict "root" .root "component" .component "name" (printf "%s-%s" (include "gpuscope.fullname" .root) .component) "namespace" $monitor.namespace "labels" $monitor.labels "annotations" $monitor.annotations) | nindent 2 }}
spec:
  namespaceSelector:
    matchNames: [{{ include "gpuscope.namespace" .root | quote }}]
  selector:
    matchLabels:
      {{- include "gpuscope.selector" (dict "root" .root "component" .component) | nindent 6 }}
  {{- with $monitor.podTargetLabels }}
  podTargetLabels:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with int64 $monitor.sampleLimit }}
  sampleLimit: {{ . }}
  {{- end }}
  {{- with $monitor.bodySizeLimit }}
  bodySizeLimit: {{ . | quote }}
  {{- end }}
  {{ ternary "podMetricsEndpoints" "endpoints" (eq $monitor.kind "PodMonitor") }}:
    - {{- include "gpuscope.endpoint" (dict "root" .root "values" $values "times" .times "job" .job) | nindent 6 }}
{{- end -}}
