{{/* GPU nodes are left to those who need GPUs, where there are others. */}}
{{- define "gpuscope.collector.affinity" -}}
{{- if .Values.collector.affinity -}}
{{- toYaml .Values.collector.affinity -}}
{{- else -}}
nodeAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      preference:
        matchExpressions:
          - key: nvidia.com/gpu.present
            operator: DoesNotExist
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "gpuscope.selector" (dict "root" . "component" "collector") | nindent 12 }}
{{- end -}}
{{- end -}}
