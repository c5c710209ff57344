{{- define "gpuscope.collector.enabled" -}}
{{- if and .Values.collector.enabled (ne (include "gpuscope.level" (dict "root" . "name" "training")) "off") -}}true{{- end -}}
{{- end -}}

{{- define "gpuscope.collector.lease" -}}
{{- include "gpuscope.switch" (dict "value" .Values.collector.lease "auto" (gt (int .Values.collector.replicas) 1)) -}}
{{- end -}}

{{/* URLs of the agents that are asked for faults, as a list. */}}
{{- define "gpuscope.collector.agents" -}}
{{- if .Values.collector.agents.urls -}}
{{- toYaml .Values.collector.agents.urls -}}
{{- else if and .Values.agent.enabled (eq (include "gpuscope.level" (dict "root" . "name" "training")) "full") -}}
- {{ printf "%s://%s-agent.%s.svc:%d" .Values.agent.web.scheme (include "gpuscope.fullname" .) (include "gpuscope.namespace" .) (int .Values.agent.port) }}
{{- end -}}
{{- end -}}

{{/* Everything that the collector is started with. Only flags of `gpuscope collector --help` stand here. */}}
{{- define "gpuscope.collector.args" -}}
{{- $collector := .Values.collector -}}
- collector
- --web.listen-address=:{{ $collector.port }}
{{- if $collector.web.configSecret }}
- --web.config.file=/etc/gpuscope/web/web.yaml
{{- end }}
{{- if $collector.config }}
- --config=/etc/gpuscope/collector/collector.yaml
{{- end }}
- --log.level={{ $collector.logLevel }}
- --log.format={{ $collector.logFormat }}
{{- if $collector.kubernetes.enabled }}
- --kubernetes
- {{ printf "--kubernetes.team-label=%s" $collector.kubernetes.teamLabel | quote }}
{{- range $collector.kubernetes.namespaces }}
- {{ printf "--kubernetes.namespace=%s" . | quote }}
{{- end }}
{{- if not $collector.kubernetes.resourceClaims }}
- --no-kubernetes.resource-claims
{{- end }}
{{- if include "gpuscope.collector.lease" . }}
- --kubernetes.lease={{ include "gpuscope.namespace" . }}/{{ include "gpuscope.fullname" . }}-collector
{{- end }}
{{- end }}
{{- if $collector.slurm.enabled }}
- --slurm
{{- with $collector.slurm.commands }}
- {{ printf "--slurm.commands=%s" . | quote }}
{{- end }}
{{- end }}
- --interval={{ .Values.categories.training.interval }}
- --stalled-after={{ $collector.stalledAfter }}
{{- $scrape := int (include "gpuscope.seconds" .Values.monitor.collector.interval) }}
{{- if gt $scrape 60 }}
{{- /* A counter that begins has to be seen at 0 by one scrape at least. */}}
- --counter-hold={{ mul 2 $scrape }}s
{{- end }}
- --max-jobs={{ int $collector.maxJobs }}
- --max-owners={{ int $collector.maxOwners }}
- --state-file=/var/lib/gpuscope/jobs.sqlite
{{- $agents := fromYamlArray (include "gpuscope.collector.agents" .) }}
{{- range $agents }}
- {{ printf "--agents=%s" . | quote }}
{{- end }}
{{- if $agents }}
{{- with $collector.agents.user }}
- {{ printf "--agents.user=%s" . | quote }}
{{- end }}
{{- if $collector.agents.secret }}
{{- $flags := dict "password" "password-file" "ca.crt" "ca-file" "tls.crt" "cert-file" "tls.key" "key-file" }}
{{- range $collector.agents.secretKeys }}
- --agents.{{ index $flags . }}=/etc/gpuscope/agents/{{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- range $collector.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "gpuscope.collector.volumeMounts" -}}
- name: tmp
  mountPath: /tmp
- name: state
  mountPath: /var/lib/gpuscope
{{- if .Values.collector.config }}
- name: config
  mountPath: /etc/gpuscope/collector
  readOnly: true
{{- end }}
{{- if .Values.collector.web.configSecret }}
- name: web
  mountPath: /etc/gpuscope/web
  readOnly: true
{{- end }}
{{- if .Values.collector.agents.secret }}
- name: agents
  mountPath: /etc/gpuscope/agents
  readOnly: true
{{- end }}
{{- if and .Values.collector.slurm.enabled .Values.collector.slurm.configSecret }}
- name: slurm
  mountPath: /etc/slurm
  readOnly: true
{{- end }}
{{- with .Values.collector.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "gpuscope.collector.volumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
- name: state
{{- if .Values.collector.persistence.enabled }}
  persistentVolumeClaim:
    claimName: {{ default (printf "%s-collector" (include "gpuscope.fullname" .)) .Values.collector.persistence.existingClaim | quote }}
{{- else }}
  emptyDir:
    sizeLimit: 1Gi
{{- end }}
{{- if .Values.collector.config }}
- name: config
  configMap:
    name: {{ printf "%s-collector" (include "gpuscope.fullname" .) | quote }}
{{- end }}
{{- with .Values.collector.web.configSecret }}
- name: web
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
{{- end }}
{{- with .Values.collector.agents.secret }}
- name: agents
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
{{- end }}
{{- if .Values.collector.slurm.enabled }}
{{- with .Values.collector.slurm.configSecret }}
- name: slurm
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
{{- end }}
{{- end }}
{{- with .Values.collector.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
