{{/* One hostPath: name, path of the node, path in the container, and where wanted type and propagation. */}}
{{- define "gpuscope.agent.hostPaths" -}}
{{- $host := .Values.hostAccess -}}
{{- $agent := .Values.agent -}}
{{- if .Values.podResources.enabled }}
- {name: pod-resources, path: {{ .Values.podResources.hostPath | quote }}, mountPath: /var/lib/kubelet/pod-resources, type: ""}
{{- end }}
{{- if $host.podLogs }}
- {name: pod-logs, path: /var/log/pods, mountPath: /var/log/pods, type: ""}
{{- end }}
{{- if eq (include "gpuscope.word" $host.kernelLog) "device" }}
- {name: kmsg, path: /dev/kmsg, mountPath: /dev/kmsg, type: CharDevice}
{{- else if eq (include "gpuscope.word" $host.kernelLog) "file" }}
- {name: kernel-log, path: {{ dir $host.kernelLogFile | quote }}, mountPath: /host/log, type: Directory}
{{- end }}
{{- if and (ne (include "gpuscope.word" $host.kernelLog) "off") $host.stateDir }}
- {name: state, path: {{ $host.stateDir | quote }}, mountPath: /var/lib/gpuscope, type: DirectoryOrCreate, writable: true}
{{- end }}
{{- if $host.mounts }}
- {name: proc, path: /proc, mountPath: /host/proc, type: ""}
- {name: sys, path: /sys, mountPath: /host/sys, type: ""}
{{- if $host.mountsOf }}
{{- range $index, $path := $host.mountsOf }}
- {name: mount-{{ $index }}, path: {{ $path | quote }}, mountPath: {{ printf "/host/root%s" $path | quote }}, type: "", propagation: HostToContainer}
{{- end }}
{{- else }}
- {name: root, path: /, mountPath: /host/root, type: "", propagation: HostToContainer}
{{- end }}
{{- end }}
{{- with $agent.jobMappingDir }}
- {name: job-mapping, path: {{ . | quote }}, mountPath: {{ . | quote }}, type: ""}
{{- end }}
{{- if and (not $agent.simulate) (eq $agent.gpu.access "volume-mounts") }}
- {name: nvidia-devices, path: /dev/null, mountPath: /var/run/nvidia-container-devices/all, type: ""}
{{- end }}
{{- if and (not $agent.simulate) (eq $agent.gpu.access "host") }}
{{- /* NVML alone: a folder of libraries would bring the node's libc along, which Python in the container cannot take. */}}
- {name: driver, path: {{ printf "%s/libnvidia-ml.so.1" (trimSuffix "/" $agent.gpu.driverRoot) | quote }}, mountPath: /host/driver/libnvidia-ml.so.1, type: File}
- {name: dev, path: /dev, mountPath: /dev, type: "", writable: true}
{{- end }}
{{- end -}}

{{- define "gpuscope.agent.volumeMounts" -}}
- name: tmp
  mountPath: /tmp
{{- if and (ne (include "gpuscope.word" .Values.hostAccess.kernelLog) "off") (not .Values.hostAccess.stateDir) }}
- name: state
  mountPath: /var/lib/gpuscope
{{- end }}
{{- if .Values.agent.config }}
- name: config
  mountPath: /etc/gpuscope/agent
  readOnly: true
{{- end }}
{{- if .Values.agent.web.configSecret }}
- name: web
  mountPath: /etc/gpuscope/web
  readOnly: true
{{- end }}
{{- range fromYamlArray (include "gpuscope.agent.hostPaths" .) }}
- name: {{ .name }}
  mountPath: {{ .mountPath | quote }}
{{- if not .writable }}
  readOnly: true
{{- end }}
{{- with .propagation }}
  mountPropagation: {{ . }}
{{- end }}
{{- end }}
{{- with .Values.agent.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "gpuscope.agent.volumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- if and (ne (include "gpuscope.word" .Values.hostAccess.kernelLog) "off") (not .Values.hostAccess.stateDir) }}
- name: state
  emptyDir:
    sizeLimit: 16Mi
{{- end }}
{{- if .Values.agent.config }}
- name: config
  configMap:
    name: {{ printf "%s-agent" (include "gpuscope.fullname" .) | quote }}
{{- end }}
{{- with .Values.agent.web.configSecret }}
- name: web
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
{{- end }}
{{- range fromYamlArray (include "gpuscope.agent.hostPaths" .) }}
- name: {{ .name }}
  hostPath:
    path: {{ .path | quote }}
{{- with .type }}
    type: {{ . }}
{{- end }}
{{- end }}
{{- with .Values.agent.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
