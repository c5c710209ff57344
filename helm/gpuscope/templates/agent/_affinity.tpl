{{/* One of the labels of agent.gpuNodes is enough: each is a term of its own. */}}
{{- define "gpuscope.agent.affinity" -}}
{{- if .Values.agent.affinity -}}
{{- toYaml .Values.agent.affinity -}}
{{- else if and .Values.agent.gpuNodes (not .Values.agent.simulate) -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
{{- range .Values.agent.gpuNodes }}
      - matchExpressions:
          - key: {{ .key | quote }}
{{- if .values }}
            operator: In
            values:
              {{- toYaml .values | nindent 14 }}
{{- else }}
            operator: Exists
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}
