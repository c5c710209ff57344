{{/* root, and where it differs an image of its own. */}}
{{- define "gpuscope.image" -}}
{{- $image := .root.Values.image -}}
{{- $own := default dict .image -}}
{{- $registry := default (default $image.registry $own.registry) (default dict .root.Values.global).imageRegistry -}}
{{- $repository := default $image.repository $own.repository -}}
{{- $digest := ternary "" $image.digest (not (empty $own.repository)) -}}
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
