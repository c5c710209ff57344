{{/* Combinations that cannot work, each with what to do. They are collected, so that all are told at once. */}}
{{- define "gpuscope.problems" -}}
{{- $v := .Values -}}
{{- $agent := $v.agent -}}
{{- $collector := $v.collector -}}
{{- $kernelLog := include "gpuscope.word" $v.hostAccess.kernelLog -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" (include "gpuscope.fullname" .)) }}
- fullnameOverride: {{ include "gpuscope.fullname" . }} cannot be the name of a Service, which has small letters, digits and - alone and begins with a letter; set fullnameOverride, as to gpuscope
{{- end -}}
{{- range $category, $keys := $v.categories -}}
{{- range $key := list "interval" "processesInterval" -}}
{{- if and (hasKey $keys $key) (not (regexMatch "[1-9]" (get $keys $key))) }}
- categories.{{ $category }}.{{ $key }}: it has to be longer than 0
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $agent.enabled -}}
{{- if and (include "gpuscope.agent.root" .) (or $agent.podSecurityContext.runAsNonRoot $agent.podSecurityContext.runAsUser $agent.securityContext.runAsNonRoot $agent.securityContext.runAsUser) }}
- agent.podSecurityContext: kubelet's socket and the kernel log belong to root, and the agent would get no answer as another user; set podResources.enabled=false and hostAccess.kernelLog=off, or leave runAsUser and runAsNonRoot away
{{- end -}}
{{- if and $v.hostAccess.mountsOf (not $v.hostAccess.mounts) }}
- hostAccess.mountsOf: it chooses folders of hostAccess.mounts, which is off; set hostAccess.mounts=true
{{- end -}}
{{- if and $v.hostAccess.stateDir (eq $kernelLog "off") }}
- hostAccess.stateDir: only the position in the kernel log is kept there; set hostAccess.kernelLog, or leave it away
{{- end -}}
{{- if and (eq $agent.web.scheme "https") (not $agent.web.configSecret) }}
- agent.web.scheme: https needs agent.web.configSecret, a Secret with web.yaml and the certificate
{{- end -}}
{{- include "gpuscope.overruled" (dict "component" "agent" "values" $agent "flags" (include "gpuscope.agent.args" .)) -}}
{{- end -}}
{{- if include "gpuscope.collector.enabled" . -}}
{{- $lease := include "gpuscope.collector.lease" . -}}
{{- include "gpuscope.overruled" (dict "component" "collector" "values" $collector "flags" (include "gpuscope.collector.args" .)) -}}
{{- if and (include "gpuscope.collector.rbac" .) (not $collector.serviceAccount.create) (not $collector.serviceAccount.name) }}
- collector.serviceAccount.name: without it the roles would go to the account default, which every pod of the namespace has; name an account that is there, or set collector.rbac.create=false
{{- end -}}
{{- if and $collector.persistence.existingClaim (not $collector.persistence.enabled) }}
- collector.persistence.existingClaim: it is not used while collector.persistence.enabled is false; set it to true
{{- end -}}
{{- if not (or $collector.kubernetes.enabled $collector.slurm.enabled) }}
- collector: it follows no scheduler; set collector.kubernetes.enabled=true or collector.slurm.enabled=true, or collector.enabled=false
{{- end -}}
{{- if and $lease (not $collector.kubernetes.enabled) }}
- collector.lease: a Lease needs collector.kubernetes.enabled=true; with Slurm alone set collector.lease=false and share a volume (collector.persistence with ReadWriteMany)
{{- end -}}
{{- if and (gt (int $collector.replicas) 1) (not $lease) (not (and $collector.persistence.enabled (has "ReadWriteMany" $collector.persistence.accessModes))) }}
- collector.replicas: several collectors would count every job several times; set collector.lease=auto, or collector.persistence.enabled=true with accessModes [ReadWriteMany]
{{- end -}}
{{- if and (gt (int $collector.replicas) 1) $collector.persistence.enabled (not (has "ReadWriteMany" $collector.persistence.accessModes)) }}
- collector.persistence.accessModes: collectors on several nodes cannot share a volume that is not ReadWriteMany; set it, or collector.replicas=1, or collector.persistence.enabled=false
{{- end -}}
{{- if and (eq $collector.web.scheme "https") (not $collector.web.configSecret) }}
- collector.web.scheme: https needs collector.web.configSecret, a Secret with web.yaml and the certificate
{{- end -}}
{{- if and $collector.agents.user (not $collector.agents.secret) }}
- collector.agents.user: a name without a password; set collector.agents.secret to a Secret with the key password
{{- end -}}
{{- range $collector.agents.secretKeys -}}
{{- if not (has . (list "password" "ca.crt" "tls.crt" "tls.key")) }}
- collector.agents.secretKeys: {{ . }} is none of password, ca.crt, tls.crt, tls.key
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $times := dict "agent" $v.monitor.agent "collector" $v.monitor.collector -}}
{{- if not (and (regexMatch "[1-9]" $times.interval) (regexMatch "[1-9]" $times.scrapeTimeout)) }}
- monitor.{{ $name }}.interval: interval and scrapeTimeout have to be longer than 0
{{- end -}}
{{- if gt (int (include "gpuscope.seconds" $times.scrapeTimeout)) (int (include "gpuscope.seconds" $times.interval)) }}
- monitor.{{ $name }}.scrapeTimeout: {{ $times.scrapeTimeout }} is longer than monitor.{{ $name }}.interval, {{ $times.interval }}, which the Prometheus operator refuses
{{- end -}}
{{- end -}}
{{- if and (eq (toString $v.monitor.scrapeAnnotations) "true") (include "gpuscope.monitored" .) }}
- monitor.scrapeAnnotations: together with {{ $v.monitor.kind }}s every sample would come twice, and sums be double; set it to auto
{{- end -}}
{{- if and $v.rules.configMap.enabled (eq (toString $v.rules.enabled) "true") }}
- rules.configMap.enabled: together with PrometheusRules every alert would come twice; set rules.enabled=false
{{- end -}}
{{- with $v.dashboards.grafanaOperator -}}
{{- if and .enabled (not .instanceSelector) }}
- dashboards.grafanaOperator.instanceSelector: it says which Grafanas take the boards, and is missing; for example {matchLabels: {dashboards: grafana}}
{{- end -}}
{{- if and .folder .folderUID }}
- dashboards.grafanaOperator.folderUID: a board lies in one folder; set either folder or folderUID
{{- end -}}
{{- if and .enabled (not $v.dashboards.enabled) }}
- dashboards.grafanaOperator.enabled: it reads the ConfigMaps of dashboards.enabled, which is off
{{- end -}}
{{- end -}}
{{- with $v.alertmanagerConfig -}}
{{- if .enabled -}}
{{- if not (get (default dict (fromYaml .manifest)) "spec") }}
- alertmanagerConfig.manifest: give the file that gpuscope-generator alertmanager writes where its settings have manifest.enabled: --set-file alertmanagerConfig.manifest=alertmanagerconfig.yaml
{{- end -}}
{{- if not .matcherStrategy }}
- alertmanagerConfig.matcherStrategy: say what alertmanagerConfigMatcherStrategy.type of your Alertmanager is, None or OnNamespaceExceptForAlertmanagerNamespace; with the default, OnNamespace, alerts about GPUs would never arrive
{{- end -}}
{{- if and (eq .matcherStrategy "OnNamespaceExceptForAlertmanagerNamespace") (not .namespace) }}
- alertmanagerConfig.namespace: with OnNamespaceExceptForAlertmanagerNamespace it has to be the namespace of the Alertmanager
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Settings in a component's file that a flag of the chart would overrule: component, values, flags. */}}
{{- define "gpuscope.overruled" -}}
{{- $component := .component -}}
{{- $config := .values.config -}}
{{- $web := default dict $config.web -}}
{{- if not (kindIs "map" $web) }}
- {{ $component }}.config.web: it is a mapping, such as {max-connections: 50}
{{- else if hasKey $web "telemetry-path" }}
- {{ $component }}.config.web.telemetry-path: probes and monitors rely on /metrics; leave it away
{{- end -}}
{{- range .values.extraArgs -}}
{{- if regexMatch "^--web[.](listen-address|telemetry-path)" . }}
- {{ $component }}.extraArgs: {{ . }}: probes and monitors rely on address and path; use {{ $component }}.port
{{- end -}}
{{- end -}}
{{- $extra := .values.extraArgs -}}
{{- range $flag := fromYamlArray .flags -}}
{{- $key := regexReplaceAll "^--(no-)?|=.*$" $flag "" -}}
{{- $section := get $config (splitList "." $key | first) -}}
{{- if and (hasPrefix "--" $flag) (not (has $flag $extra)) (or (hasKey $config $key) (and (kindIs "map" $section) (hasKey $section (splitList "." $key | rest | join ".")))) }}
- {{ $component }}.config.{{ $key }}: the chart sets it by a flag, which would win; use the chart's own value for it, or {{ $component }}.extraArgs
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "gpuscope.validate" -}}
{{- with include "gpuscope.problems" . | trim -}}
{{- fail (printf "\n\nThese values do not fit together:\n%s\n" .) -}}
{{- end -}}
{{- end -}}
