{{/* Who may reach a port of metrics: everybody, or those whom the user names and the pods of this release. */}}
{{- define "gpuscope.scrapers" -}}
{{- with .Values.networkPolicy.scrapers -}}
from:
  {{- toYaml . | nindent 2 }}
  - podSelector:
      matchExpressions:
        - {key: app.kubernetes.io/instance, operator: In, values: [{{ $.Release.Name | quote }}]}
        - {key: app.kubernetes.io/component, operator: In, values: [collector, test]}
{{- end -}}
{{- end -}}
