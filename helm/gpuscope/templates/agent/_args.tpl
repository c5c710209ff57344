{{/* Everything that the agent is started with. Only flags of `gpuscope agent --help` stand here. */}}
{{- define "gpuscope.agent.args" -}}
{{- $agent := .Values.agent -}}
{{- $host := .Values.hostAccess -}}
- agent
- --web.listen-address=:{{ $agent.port }}
{{- if $agent.web.configSecret }}
- --web.config.file=/etc/gpuscope/web/web.yaml
{{- end }}
{{- if $agent.config }}
- --config=/etc/gpuscope/agent/agent.yaml
{{- end }}
- --log.level={{ $agent.logLevel }}
- --log.format={{ $agent.logFormat }}
{{- include "gpuscope.categoryFlags" . }}
{{- if not .Values.podResources.enabled }}
- --pod-resources.socket=off
{{- end }}
{{- if eq (include "gpuscope.word" $host.kernelLog) "off" }}
- --kernel-log=off
{{- else if eq (include "gpuscope.word" $host.kernelLog) "device" }}
- --kernel-log=/dev/kmsg
- --state-dir=/var/lib/gpuscope
{{- else }}
- {{ printf "--kernel-log=/host/log/%s" (base $host.kernelLogFile) | quote }}
- --state-dir=/var/lib/gpuscope
{{- end }}
{{- if $host.mounts }}
- --path.procfs=/host/proc
- --path.sysfs=/host/sys
- --path.rootfs=/host/root
{{- end }}
{{- with $agent.jobMappingDir }}
- {{ printf "--job-mapping-dir=%s" . | quote }}
{{- end }}
{{- with int $agent.expectedGpus }}
- --expected-gpus={{ . }}
{{- end }}
{{- if ne (include "gpuscope.word" $agent.compat) "off" }}
- --compat={{ $agent.compat }}
{{- end }}
{{- if ne (include "gpuscope.word" $agent.podLabels) "off" }}
- --pod-labels={{ $agent.podLabels }}
{{- end }}
{{- with $agent.simulate }}
- {{ printf "--simulate=%s" . | quote }}
{{- end }}
{{- range $agent.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}
