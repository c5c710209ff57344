{{/*
Null, also a key with nothing behind it, takes a default away before anything is rendered, and --reuse-values of an older
chart does not have it. Where empty is an answer it is put in; where it is none the key is named.
*/}}
{{- define "gpuscope.nulls" -}}
{{- $missing := dict -}}
{{- range $path, $empty := fromJson (include "gpuscope.empty" .) -}}
{{- $at := $.Values -}}
{{- $walked := list -}}
{{- $names := splitList "." $path -}}
{{- range $name := $names -}}
{{- if kindIs "map" $at -}}
{{- $walked = append $walked $name -}}
{{- $found := get $at $name -}}
{{- if or (not (hasKey $at $name)) (kindIs "invalid" $found) -}}
{{- if and (eq (len $walked) (len $names)) (not (kindIs "invalid" $empty)) -}}
{{- $_ := set $at $name $empty -}}
{{- else -}}
{{- $_ := set $missing (join "." $walked) true -}}
{{- end -}}
{{- $found = "" -}}
{{- end -}}
{{- $at = $found -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $missing -}}
{{- $lines := list -}}
{{- range $key := keys $missing | sortAlpha -}}
{{- $lines = append $lines (printf "- %s: it is null or missing, and the chart needs it; leave the key away to have its default. After helm upgrade --reuse-values use --reset-then-reuse-values" $key) -}}
{{- end -}}
{{- fail (printf "\n\nThese values are not there:\n%s\n" (join "\n" $lines)) -}}
{{- end -}}
{{- end -}}
