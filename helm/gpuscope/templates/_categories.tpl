{{/*
What belongs to a category. basic: collectors of the agent that are on by default; full: those that are not; recording,
alerts, boards: files that go with it.
*/}}
{{- define "gpuscope.categories" -}}
accelerator:
  basic: [mig, memory, utilization, power, temperature, clocks, confidential, vgpu, processes]
  alerts: [thermal, usage]
  boards: [partition]
activity:
  basic: [activity]
  full: [pipes, cycles, engines]
health:
  basic: [xid, recovery, ecc, remapping]
  alerts: [faults, memory]
interconnect:
  basic: [pcie, nvlink, fabric, c2c]
  full: [pcie-details, nvlink-links]
  recording: [ports, nccl]
  alerts: [interconnect, network]
attribution:
  basic: [attribution]
filesystem:
  basic: [filesystem, lustre]
  recording: [filesystem, lustre, node-filesystem, nfs, gpfs, fsx]
  alerts: [storage]
  boards: [filesystem]
training:
  recording: [training, kubeflow, jobset, hyperpod-training, ray-train]
  alerts: [jobs, goodput]
  boards: [training]
inference:
  recording: [vllm, sglang, tgi, triton, trtllm, dynamo, hyperpod-inference, llm-d, scaling]
  alerts: [serving]
  boards: [inference]
queues:
  recording: [kueue, volcano, slurm-native, slurm-exporters]
  alerts: [queues, scheduler]
{{- end -}}

{{/* A word of the values; a bare off is false in YAML. */}}
{{- define "gpuscope.word" -}}
{{- ternary "off" (toString .) (eq (toString .) "false") -}}
{{- end -}}

{{- define "gpuscope.level" -}}
{{- include "gpuscope.word" (index .root.Values.categories .name).level -}}
{{- end -}}

{{/* Whether a file is wanted: root, kind (recording, alerts or boards), name, and switches by name. */}}
{{- define "gpuscope.wanted" -}}
{{- $wanted := true -}}
{{- range $category, $parts := fromYaml (include "gpuscope.categories" .root) -}}
{{- if and (has $.name (default list (index $parts $.kind))) (eq (include "gpuscope.level" (dict "root" $.root "name" $category)) "off") -}}
{{- $wanted = false -}}
{{- end -}}
{{- end -}}
{{- if hasKey .switches .name -}}
{{- $wanted = index .switches .name -}}
{{- end -}}
{{- if $wanted -}}true{{- end -}}
{{- end -}}

{{/* Flags of the agent that follow from the levels and intervals, one a line. */}}
{{- define "gpuscope.categoryFlags" -}}
{{- $categories := .Values.categories -}}
{{- range $name, $parts := fromYaml (include "gpuscope.categories" .) -}}
{{- $level := include "gpuscope.level" (dict "root" $ "name" $name) -}}
{{- if eq $level "off" -}}
{{- range $parts.basic }}
- --no-collector.{{ . }}
{{- end -}}
{{- else if eq $level "full" -}}
{{- range $parts.full }}
- --collector.{{ . }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq (include "gpuscope.level" (dict "root" . "name" "filesystem")) "basic" }}
- --no-lustre.targets
{{- end }}
- --interval.fast={{ $categories.accelerator.interval }}
- --interval.processes={{ $categories.accelerator.processesInterval }}
- --interval.activity={{ $categories.activity.interval }}
- --interval.slow={{ $categories.health.interval }}
- --interval.attribution={{ $categories.attribution.interval }}
- --interval.filesystem={{ $categories.filesystem.interval }}
{{- end -}}
