{{/* Paths of the boards that are wanted, below charts/content, as a list. */}}
{{- define "gpuscope.boardFiles" -}}
{{- range $path, $_ := .Subcharts.content.Files.Glob "dashboards/*.json" -}}
{{- if include "gpuscope.wanted" (dict "root" $ "kind" "boards" "name" (base $path | trimSuffix ".json") "switches" $.Values.dashboards.boards) }}
- {{ $path }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Name of the objects of a board: root, path. */}}
{{- define "gpuscope.boardName" -}}
{{- printf "%s-board-%s" (include "gpuscope.fullname" .root) (base .path | trimSuffix ".json") -}}
{{- end -}}
