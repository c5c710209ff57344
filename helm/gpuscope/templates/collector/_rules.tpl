{{/* What may be read in each namespace, or in all. */}}
{{- define "gpuscope.collector.rules" -}}
- apiGroups: [""]
  resources: [pods, events]
  verbs: [get, list, watch]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch]
- apiGroups: [jobset.x-k8s.io]
  resources: [jobsets]
  verbs: [get, list, watch]
- apiGroups: [kubeflow.org]
  resources: [pytorchjobs, tfjobs, xgboostjobs, paddlejobs, jaxjobs, mpijobs]
  verbs: [get, list, watch]
- apiGroups: [trainer.kubeflow.org]
  resources: [trainjobs]
  verbs: [get, list, watch]
- apiGroups: [ray.io]
  resources: [rayjobs, rayclusters]
  verbs: [get, list, watch]
- apiGroups: [leaderworkerset.x-k8s.io]
  resources: [leaderworkersets]
  verbs: [get, list, watch]
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads]
  verbs: [get, list, watch]
{{- if .Values.collector.kubernetes.resourceClaims }}
- apiGroups: [resource.k8s.io]
  resources: [resourceclaims]
  verbs: [get, list, watch]
{{- end }}
{{- end -}}

{{- define "gpuscope.collector.nodeRules" -}}
- apiGroups: [""]
  resources: [nodes]
  verbs: [get, list, watch]
{{- end -}}

{{- define "gpuscope.collector.subjects" -}}
- kind: ServiceAccount
  name: {{ include "gpuscope.serviceAccountName" (dict "root" . "component" "collector") | quote }}
  namespace: {{ include "gpuscope.namespace" . | quote }}
{{- end -}}

{{/* Whether roles are made at all. */}}
{{- define "gpuscope.collector.rbac" -}}
{{- if and (include "gpuscope.collector.enabled" .) .Values.collector.kubernetes.enabled .Values.collector.rbac.create -}}true{{- end -}}
{{- end -}}
