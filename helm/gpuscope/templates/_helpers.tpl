{{- define "gpuscope.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimAll "-" -}}
{{- end -}}

{{/* 52 characters leave room for the suffixes of components, and for what a DaemonSet adds to names of pods. */}}
{{- define "gpuscope.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimAll "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimAll "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimAll "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "gpuscope.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* What selects pods. It cannot change in an upgrade, so that nothing that users set is in it but names. */}}
{{- define "gpuscope.selector" -}}
app.kubernetes.io/name: {{ include "gpuscope.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "gpuscope.labels" -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/version" (.root.Chart.AppVersion | toString)
  "app.kubernetes.io/managed-by" (default "Helm" .root.Values.managedBy)
  "app.kubernetes.io/part-of" "gpuscope" -}}
{{- toYaml (mergeOverwrite (deepCopy .root.Values.commonLabels) (default dict .extra) $own (fromYaml (include "gpuscope.selector" .))) -}}
{{- end -}}

{{/* Labels of pods: without the chart's version, so that a new chart of the same image restarts nothing. */}}
{{- define "gpuscope.podLabels" -}}
{{- toYaml (mergeOverwrite (deepCopy .root.Values.commonLabels) (default dict .extra) (dict "app.kubernetes.io/part-of" "gpuscope") (fromYaml (include "gpuscope.selector" .))) -}}
{{- end -}}

{{/* name, namespace, labels and annotations: root, component, name, and where they differ namespace, labels, annotations. */}}
{{- define "gpuscope.metadata" -}}
name: {{ .name | quote }}
{{- if not .clusterWide }}
namespace: {{ default (include "gpuscope.namespace" .root) .namespace | quote }}
{{- end }}
labels:
  {{- include "gpuscope.labels" (dict "root" .root "component" .component "extra" .labels) | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) (default dict .annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "gpuscope.serviceAccountName" -}}
{{- $values := index .root.Values .component -}}
{{- $own := printf "%s-%s" (include "gpuscope.fullname" .root) .component -}}
{{- if $values.serviceAccount.create -}}{{ default $own $values.serviceAccount.name }}{{- else -}}{{ default "default" $values.serviceAccount.name }}{{- end -}}
{{- end -}}

{{/* An auto|true|false value and what auto means: "true" or nothing. */}}
{{- define "gpuscope.switch" -}}
{{- $value := toString .value -}}
{{- if or (eq $value "true") (and (eq $value "auto") .auto) -}}true{{- end -}}
{{- end -}}
