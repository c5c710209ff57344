{{/* Variables of the agent's container. */}}
{{- define "gpuscope.agent.env" -}}
{{- $agent := .Values.agent -}}
- name: NODE_NAME
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
{{- if $agent.simulate }}
- name: GPUSCOPE_SIMULATE_SEED
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
{{- else if eq $agent.gpu.access "runtime" }}
{{- /* Every GPU, and of the driver only what NVML needs: neither variable takes a GPU away from the scheduler. */}}
- name: NVIDIA_VISIBLE_DEVICES
  value: all
- name: NVIDIA_DRIVER_CAPABILITIES
  value: utility
{{- else if eq $agent.gpu.access "volume-mounts" }}
- name: NVIDIA_VISIBLE_DEVICES
  value: /var/run/nvidia-container-devices
- name: NVIDIA_DRIVER_CAPABILITIES
  value: utility
{{- else if eq $agent.gpu.access "host" }}
- name: LD_LIBRARY_PATH
  value: /host/driver
{{- end }}
{{- with $agent.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
