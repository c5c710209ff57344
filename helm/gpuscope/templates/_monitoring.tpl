{{/* Whether the objects of the Prometheus operator are made. */}}
{{- define "gpuscope.monitored" -}}
{{- include "gpuscope.switch" (dict "value" .Values.monitor.enabled "auto" (.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" .Values.monitor.kind))) -}}
{{- end -}}

{{/* Annotations of a pod by which a Prometheus without the operator finds it: root, and the values of the component. */}}
{{- define "gpuscope.scrapeAnnotations" -}}
{{- if include "gpuscope.switch" (dict "value" .root.Values.monitor.scrapeAnnotations "auto" (not (include "gpuscope.monitored" .root))) -}}
prometheus.io/scrape: "true"
prometheus.io/port: {{ .values.port | quote }}
prometheus.io/path: /metrics
prometheus.io/scheme: {{ .values.web.scheme }}
{{- end -}}
{{- end -}}
