{{/*
The contexts that the Pod Security Standard "restricted" asks for. The agent runs as user id 0 only where something that it
was told to read belongs to root, and as a privileged container only where a device of the node cannot be had otherwise.
*/}}
{{- define "gpuscope.agent.root" -}}
{{- if or .Values.podResources.enabled (eq (include "gpuscope.word" .Values.hostAccess.kernelLog) "file") (eq (include "gpuscope.word" .Values.hostAccess.kernelLog) "device") -}}true{{- end -}}
{{- end -}}

{{- define "gpuscope.agent.privileged" -}}
{{- if or (eq (include "gpuscope.word" .Values.hostAccess.kernelLog) "device") (eq .Values.agent.gpu.access "host") -}}true{{- end -}}
{{- end -}}

{{- define "gpuscope.podSecurityContext" -}}
{{- $context := dict "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532 "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- if .asRoot -}}
{{- $context = dict "runAsUser" 0 "runAsGroup" 0 "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- end -}}
{{- toYaml (mergeOverwrite $context (default dict .fields) (deepCopy .own)) -}}
{{- end -}}

{{- define "gpuscope.securityContext" -}}
{{- $context := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) -}}
{{- if .privileged -}}
{{- $context = dict "privileged" true "readOnlyRootFilesystem" true -}}
{{- end -}}
{{- toYaml (mergeOverwrite $context (deepCopy .own)) -}}
{{- end -}}

{{/*
The three probes of a component: values; alike where only one of several pods leads. Those that wait say at /-/ready that
they do, and a Deployment with pods that are never ready would never be complete: helm --wait, Argo CD and drains would hang.
*/}}
{{- define "gpuscope.probes" -}}
{{- $probes := .values.probes -}}
{{- $healthy := dict "httpGet" (dict "path" "/-/healthy" "port" "metrics" "scheme" (upper .values.web.scheme)) -}}
{{- $ready := dict "httpGet" (dict "path" (ternary "/-/healthy" "/-/ready" (default false .alike)) "port" "metrics" "scheme" (upper .values.web.scheme)) -}}
{{- if or (eq $probes.handler "tcp") (and (eq $probes.handler "auto") .values.web.configSecret) -}}
{{- $healthy = dict "tcpSocket" (dict "port" "metrics") -}}
{{- $ready = $healthy -}}
{{- end -}}
startupProbe:
  {{- toYaml (mergeOverwrite (deepCopy $healthy) $probes.startup) | nindent 2 }}
livenessProbe:
  {{- toYaml (mergeOverwrite (deepCopy $healthy) $probes.liveness) | nindent 2 }}
readinessProbe:
  {{- toYaml (mergeOverwrite (deepCopy $ready) $probes.readiness) | nindent 2 }}
{{- end -}}
