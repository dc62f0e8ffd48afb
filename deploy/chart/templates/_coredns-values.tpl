{{/*
Values of the chart coredns/helm, at the top level as there, become those of the server. What this chart cannot do is refused:
a value that does nothing would be found in production.
*/}}

{{/* The top-level keys of coredns/helm that are set, separated by spaces */}}
{{- define "kubedoh.corednsKeys" -}}
{{- $keys := list "servers" "replicaCount" "resources" "rollingUpdate" "terminationGracePeriodSeconds" "podAnnotations" "podLabels" "serviceType" "prometheus" "service" "serviceAccount" "isClusterService" "priorityClassName" "podSecurityContext" "securityContext" "extraConfig" "livenessProbe" "readinessProbe" "affinity" "nodeSelector" "tolerations" "topologySpreadConstraints" "podDisruptionBudget" "zoneFiles" "extraContainers" "initContainers" "extraVolumes" "extraVolumeMounts" "extraSecrets" "env" "dnsPolicy" "dnsConfig" "hostNetwork" "hpa" "autoscaler" "deployment" "k8sAppLabelOverride" "clusterRole" }}
{{- $found := list }}
{{- range $key := $keys }}
{{- if not (kindIs "invalid" (index $.Values $key)) }}{{ $found = append $found $key }}{{ end }}
{{- end }}
{{- join " " $found }}
{{- end }}

{{- define "kubedoh.fromCoreDns" }}
{{- $values := .Values }}{{ $server := .Values.server }}
{{- include "kubedoh.refusedOfCoreDns" . }}
{{- range $key := list "resources" "terminationGracePeriodSeconds" "podAnnotations" "podLabels" "serviceAccount" "priorityClassName" "podSecurityContext" "securityContext" "livenessProbe" "readinessProbe" "affinity" "nodeSelector" "tolerations" "topologySpreadConstraints" "podDisruptionBudget" "extraContainers" "initContainers" "extraVolumes" "extraVolumeMounts" "env" "dnsPolicy" "dnsConfig" "hostNetwork" }}
{{- if not (kindIs "invalid" (index $values $key)) }}{{ $_ := set $server $key (get $values $key) }}{{ end }}
{{- end }}
{{- if not (kindIs "invalid" $values.replicaCount) }}{{ $_ := set $server "replicas" $values.replicaCount }}{{ end }}
{{- with $values.rollingUpdate }}{{ $_ := set $server "strategy" (dict "type" "RollingUpdate" "rollingUpdate" .) }}{{ end }}
{{- with $values.serviceAccount }}{{ if kindIs "invalid" .create }}{{ $_ := set . "create" false }}{{ end }}{{ end }}
{{- include "kubedoh.serviceOfCoreDns" . }}
{{- with $values.servers }}
{{- $_ := set $server "corefile" (include "kubedoh.corefileOfCoreDns" $values) }}
{{- $_ := set $server "ports" (include "kubedoh.portsOfCoreDns" . | fromYamlArray) }}
{{- end }}
{{- if eq ($values.livenessProbe | default dict).enabled false }}{{ $_ := set $server "startupProbe" (dict "enabled" false) }}{{ end }}
{{- $files := dict }}
{{- range $values.zoneFiles }}{{ $_ := set $files .filename .contents }}{{ end }}
{{- $_ := set $server "zoneFiles" $files }}
{{- range $values.extraSecrets }}
{{- $secret := dict "secretName" .name }}
{{- with .defaultMode }}{{ $_ := set $secret "defaultMode" . }}{{ end }}
{{- $_ := set $server "extraVolumes" (append ($server.extraVolumes | default list) (dict "name" .name "secret" $secret)) }}
{{- $_ := set $server "extraVolumeMounts" (append ($server.extraVolumeMounts | default list) (dict "name" .name "mountPath" .mountPath "readOnly" true)) }}
{{- end }}
{{- include "kubedoh.override" (dict "to" $server.autoscaling "from" ($values.hpa | default dict)) }}
{{- with $values.autoscaler }}
{{- $linear := pick . "coresPerReplica" "nodesPerReplica" "preventSinglePointFailure" "includeUnschedulableNodes" }}
{{- with .min }}{{ $_ := set $linear "min" . }}{{ end }}
{{- with .max }}{{ $_ := set $linear "max" . }}{{ end }}
{{- $own := pick . "enabled" "resources" "nodeSelector" "tolerations" "affinity" "priorityClassName" "podAnnotations" "extraContainers" "livenessProbe" }}
{{- $_ := set $own "image" (omit (.image | default dict) "pullPolicy" "pullSecrets") }}
{{- $_ := set $own "linear" $linear }}
{{- $_ := set $own "extraArgs" (.customFlags | default list) }}
{{- include "kubedoh.override" (dict "to" $server.proportional "from" $own) }}
{{- end }}
{{- with $values.deployment }}
{{- if eq .enabled false }}{{ $_ := set $server "enabled" false }}{{ end }}
{{- with .name }}{{ $_ := set $values "fullnameOverride" ($values.fullnameOverride | default .) }}{{ end }}
{{- with .annotations }}{{ $_ := set $server "deploymentAnnotations" . }}{{ end }}
{{- with .initContainers }}{{ $_ := set $server "initContainers" . }}{{ end }}
{{- end }}
{{- with ($values.prometheus | default dict).monitor }}
{{- $monitoring := $values.monitoring }}
{{- if .enabled }}{{ $_ := set $monitoring "serviceMonitor" true }}{{ end }}
{{- with .additionalLabels }}{{ $_ := set $monitoring "labels" . }}{{ end }}
{{- range $key := list "interval" "namespace" "relabelings" "metricRelabelings" }}
{{- with get $values.prometheus.monitor $key }}{{ $_ := set $monitoring $key . }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The Service: its own, unless server.service.mode says otherwise */}}
{{- define "kubedoh.serviceOfCoreDns" }}
{{- $values := .Values }}{{ $server := .Values.server }}
{{- $own := $server.service }}
{{- include "kubedoh.override" (dict "to" $own "from" ($values.service | default dict)) }}
{{- with $values.serviceType }}{{ $_ := set $own "type" . }}{{ end }}
{{- $metrics := ($values.prometheus | default dict).service | default dict }}
{{- if $metrics.enabled }}
{{- $_ := set $own "annotations" (merge (dict) ($own.annotations | default dict) ($metrics.annotations | default dict)) }}
{{- end }}
{{- if not $own.mode }}
{{- $_ := set $own "mode" "create" }}
{{- if not (eq $values.isClusterService false) }}
{{- $app := $values.k8sAppLabelOverride | default "coredns" }}
{{- $_ := set $own "labels" (merge (dict) ($own.labels | default dict) (include "kubedoh.clusterServiceLabels" $app | fromYaml)) }}
{{- $_ := set $server "podLabels" (merge (dict "k8s-app" $app) ($server.podLabels | default dict)) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "kubedoh.refusedOfCoreDns" }}
{{- $values := .Values }}
{{- range $path := list "service.selector" "prometheus.service.selector" "prometheus.monitor.selector" "deployment.selector" "deployment.skipConfig" "clusterRole.nameOverride" "rbac.pspEnable" "autoscaler.configmap.annotations" "autoscaler.image.pullSecrets" }}
{{- $at := $values }}
{{- range $key := splitList "." $path }}{{ $at = get ($at | default dict) $key }}{{ end }}
{{- if $at }}{{ fail (printf "%s of coredns/helm has no counterpart in this chart: take it out" $path) }}{{ end }}
{{- end }}
{{- end }}

{{/* The Corefile, as coredns/helm writes it */}}
{{- define "kubedoh.corefileOfCoreDns" -}}
{{- range $name, $conf := .extraConfig -}}
{{ $name }}{{ with $conf.parameters }} {{ . }}{{ end }}
{{ end -}}
{{- range $server := .servers }}
{{- range $i, $zone := $server.zones | default (list (dict "zone" ".")) }}{{ if $i }} {{ end }}{{ $zone.scheme }}{{ $zone.zone | default "." }}{{ with $server.port }}:{{ . }}{{ end }}{{ end }} {
    {{- range .plugins }}
    {{ .name }}{{ if not (kindIs "invalid" .parameters) }} {{ .parameters }}{{ end }}
    {{- with .configBlock }} {
{{ . | trimSuffix "\n" | indent 8 }}
    }{{ end }}
    {{- end }}
}
{{ end }}
{{- end }}

{{/* Ports of server blocks, each once, as a list */}}
{{- define "kubedoh.portsOfCoreDns" -}}
{{- $seen := dict }}
{{- range $server := . }}
{{- $port := .port | default 53 | int }}
{{- range $zone := .zones | default (list (dict "zone" ".")) }}
{{- $protocols := dict "dns://" (list "UDP" "TCP") "quic://" (list "UDP") }}
{{- range $protocol := get $protocols ($zone.scheme | default "dns://") | default (list "TCP") }}
{{- $key := printf "%d/%s" $port $protocol }}
{{- if not (hasKey $seen $key) }}
{{- $_ := set $seen $key true }}
- {{ merge (dict "port" $port "protocol" $protocol) (pick $server "servicePort" "nodePort" "hostPort") | toJson }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
