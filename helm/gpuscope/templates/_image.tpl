{{/* root, and where it differs an image of its own. */}}
{{- define "gpuscope.image" -}}
{{- $image := .root.Values.image -}}
{{- $own := default dict .image -}}
{{- $registry := default (default $image.registry $own.registry) (default dict .root.Values.global).imageRegistry | trimSuffix "/" -}}
{{- $repository := default $image.repository $own.repository -}}
{{- $digest := default (ternary $image.digest "" (and (empty $own.repository) (empty $own.tag))) $own.digest -}}
{{- $name := ternary (printf "%s/%s" $registry $repository) $repository (not (empty $registry)) -}}
{{- if $digest -}}
{{- printf "%s@%s" $name $digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default (default .root.Chart.AppVersion $image.tag) $own.tag) -}}
{{- end -}}
{{- end -}}

{{- define "gpuscope.pullSecrets" -}}
{{- $names := list -}}
{{- range concat (default list (default dict .Values.global).imagePullSecrets) .Values.imagePullSecrets -}}
{{- $names = append $names (ternary (dict "name" .) . (kindIs "string" .)) -}}
{{- end -}}
{{- with uniq $names -}}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}
