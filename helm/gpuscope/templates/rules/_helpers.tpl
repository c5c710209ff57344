{{/* Paths of the rule files that are wanted, below charts/content, as a list. */}}
{{- define "gpuscope.ruleFiles" -}}
{{- range $path, $_ := .Subcharts.content.Files.Glob "rules/*/*.yaml" -}}
{{- $kind := base (dir $path) -}}
{{- if include "gpuscope.wanted" (dict "root" $ "kind" $kind "name" (base $path | trimSuffix ".yaml") "switches" (index $.Values.rules $kind)) }}
- {{ $path }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether the rules differ from the files in anything. */}}
{{- define "gpuscope.rulesChanged" -}}
{{- with .Values.rules -}}
{{- if or .disabled .extraLabels .extraAnnotations .perAlert -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Text of one rule file: as it lies there, or with what the user changed. It is read and never rendered, so that
{{ $labels }} and {{ $value }} reach Prometheus. root, path.
*/}}
{{- define "gpuscope.ruleText" -}}
{{- $text := .root.Subcharts.content.Files.Get .path -}}
{{- if or (not (include "gpuscope.rulesChanged" .root)) (ne (base (dir .path)) "alerts") -}}
{{- $text -}}
{{- else -}}
{{- $values := .root.Values.rules -}}
{{- $groups := list -}}
{{- range $group := (fromYaml $text).groups -}}
{{- $rules := list -}}
{{- range $rule := $group.rules -}}
{{- if not (and $rule.alert (get $values.disabled $rule.alert)) -}}
{{- $own := default dict (get $values.perAlert (default "" $rule.alert)) -}}
{{- $_ := set $rule "labels" (mergeOverwrite (dict) $values.extraLabels (default dict $rule.labels) (default dict $own.labels)) -}}
{{- $_ := set $rule "annotations" (mergeOverwrite (dict) $values.extraAnnotations (default dict $rule.annotations) (default dict $own.annotations)) -}}
{{- with $own.for -}}
{{- $_ := set $rule "for" . -}}
{{- end -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- end -}}
{{- if $rules -}}
{{- $groups = append $groups (set $group "rules" $rules) -}}
{{- end -}}
{{- end -}}
{{- toYaml (dict "groups" $groups) -}}
{{- end -}}
{{- end -}}

{{/* Whether the objects of the Prometheus operator are made. */}}
{{- define "gpuscope.rules.enabled" -}}
{{- include "gpuscope.switch" (dict "value" .Values.rules.enabled "auto" (and (not .Values.rules.configMap.enabled) (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1/PrometheusRule"))) -}}
{{- end -}}

{{/*
Rule files in parcels, each small enough for a ConfigMap: kubectl apply keeps it a second time in an annotation of at most
256 KiB. A list of lists of paths.
*/}}
{{- define "gpuscope.ruleParcels" -}}
{{- $parcels := list -}}
{{- $parcel := list -}}
{{- $size := 0 -}}
{{- range $path := fromYamlArray (include "gpuscope.ruleFiles" .) -}}
{{- $more := len ($.Subcharts.content.Files.Get $path) -}}
{{- if and $parcel (gt (add $size $more) 150000) -}}
{{- $parcels = append $parcels $parcel -}}
{{- $parcel = list -}}
{{- $size = 0 -}}
{{- end -}}
{{- $parcel = append $parcel $path -}}
{{- $size = add $size $more -}}
{{- end -}}
{{- if $parcel -}}
{{- $parcels = append $parcels $parcel -}}
{{- end -}}
{{- toYaml $parcels -}}
{{- end -}}
