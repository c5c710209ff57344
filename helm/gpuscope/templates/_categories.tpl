{{/*
What belongs to a category: collectors of the agent that are on by default (basic) and those that are not (full). Rules,
alerts and boards of a category stand in rules and dashboards.
*/}}
{{- define "gpuscope.collectors" -}}
accelerator: {basic: [mig, memory, utilization, power, temperature, clocks, confidential, vgpu, processes]}
activity: {basic: [activity], full: [pipes, cycles, engines]}
health: {basic: [xid, recovery, ecc, remapping]}
interconnect: {basic: [pcie, nvlink, fabric, c2c], full: [pcie-details, nvlink-links]}
attribution: {basic: [attribution]}
filesystem: {basic: [filesystem, lustre]}
{{- end -}}

{{/* Flags of the agent that follow from the levels and intervals, one a line. */}}
{{- define "gpuscope.categoryFlags" -}}
{{- $categories := .Values.categories -}}
{{- range $name, $collectors := fromYaml (include "gpuscope.collectors" .) -}}
{{- $level := (index $categories $name).level -}}
{{- if eq $level "off" -}}
{{- range $collectors.basic }}
- --no-collector.{{ . }}
{{- end -}}
{{- else if eq $level "full" -}}
{{- range $collectors.full }}
- --collector.{{ . }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq $categories.filesystem.level "basic" }}
- --no-lustre.targets
{{- end }}
- --interval.fast={{ $categories.accelerator.interval }}
- --interval.processes={{ $categories.accelerator.processesInterval }}
- --interval.activity={{ $categories.activity.interval }}
- --interval.slow={{ $categories.health.interval }}
- --interval.attribution={{ $categories.attribution.interval }}
- --interval.filesystem={{ $categories.filesystem.interval }}
{{- end -}}
