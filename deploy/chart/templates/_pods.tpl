{{/*
A Deployment or DaemonSet with the settings of its values beside the chart's own, for the first container:
dict "root" $ "component" NAME "values" MAP "object" MAP. Each component's template has the chart's own settings.
*/}}
{{- define "kubedoh.workload" -}}
{{- $values := .values }}{{ $object := .object }}
{{- with $object.Error }}{{ fail . }}{{ end }}
{{- $template := $object.spec.template }}{{ $pod := $template.spec }}{{ $container := first $pod.containers }}
{{- with $values.strategy }}{{ $_ := set $object.spec (ternary "updateStrategy" "strategy" (eq $object.kind "DaemonSet")) . }}{{ end }}
{{- $_ := set $object.metadata "annotations" (merge (dict) ($object.metadata.annotations | default dict) ($values.deploymentAnnotations | default dict)) }}
{{- $_ := set $template.metadata "labels" (merge $template.metadata.labels ($values.podLabels | default dict)) }}
{{- $_ := set $template.metadata "annotations" (merge ($template.metadata.annotations | default dict) ($values.podAnnotations | default dict)) }}
{{- range $metadata := list $object.metadata $template.metadata }}
{{- if not $metadata.annotations }}{{ $_ := unset $metadata "annotations" }}{{ end }}
{{- end }}
{{- range $key := list "affinity" "dnsConfig" "dnsPolicy" "hostNetwork" "priorityClassName" "terminationGracePeriodSeconds" }}
{{- with get $values $key }}{{ $_ := set $pod $key . }}{{ end }}
{{- end }}
{{- with $values.topologySpreadConstraints }}{{ $_ := set $pod "topologySpreadConstraints" (include "kubedoh.constraints" $ | fromYamlArray) }}{{ end }}
{{- $_ := set $pod "nodeSelector" (merge (dict "kubernetes.io/os" "linux") ($values.nodeSelector | default dict)) }}
{{- range $list, $more := dict "tolerations" $values.tolerations "volumes" $values.extraVolumes "initContainers" $values.initContainers "containers" $values.extraContainers "imagePullSecrets" (include "kubedoh.pullSecrets" .root | fromYamlArray) }}
{{- with concat (get $pod $list | default list) ($more | default list) }}{{ $_ := set $pod $list . }}{{ end }}
{{- end }}
{{- with $values.logFormat }}
{{- $_ := set $container "env" (append ($container.env | default list) (dict "name" "KUBEDOH_LOG_FORMAT" "value" .)) }}
{{- end }}
{{- range $list, $more := dict "args" $values.extraArgs "env" $values.env "volumeMounts" $values.extraVolumeMounts }}
{{- with concat (get $container $list | default list) ($more | default list) }}{{ $_ := set $container $list . }}{{ end }}
{{- end }}
{{- with $values.resources }}{{ $_ := set $container "resources" . }}{{ end }}
{{- with $values.lifecycle }}{{ $_ := set $container "lifecycle" . }}{{ end }}
{{- range $probe := list "startupProbe" "livenessProbe" "readinessProbe" }}
{{- include "kubedoh.probe" (dict "container" $container "name" $probe "values" (get $values $probe)) }}
{{- end }}
{{- $security := dict "pod" ($pod.securityContext | default dict) "container" ($container.securityContext | default dict) }}
{{- include "kubedoh.override" (dict "to" $security "from" (dict "pod" ($values.podSecurityContext | default dict) "container" ($values.securityContext | default dict))) }}
{{- $_ := set $pod "securityContext" $security.pod }}
{{- $_ := set $container "securityContext" $security.container }}
{{- if or (include "kubedoh.ownsAccount" .) ($values.serviceAccount | default dict).name (ne $pod.automountServiceAccountToken false) }}
{{- $_ := set $pod "serviceAccountName" (include "kubedoh.accountName" .) }}
{{- end }}
{{- toYaml $object }}
{{- end }}

{{/* Changes the map "to", in depth, to what "from" has; null takes a field out. */}}
{{- define "kubedoh.override" }}
{{- $to := .to }}
{{- range $key, $value := .from }}
{{- if kindIs "invalid" $value }}{{ $_ := unset $to $key }}
{{- else if and (kindIs "map" $value) (kindIs "map" (get $to $key)) }}{{ include "kubedoh.override" (dict "to" (get $to $key) "from" $value) }}
{{- else }}{{ $_ := set $to $key $value }}{{ end }}
{{- end }}
{{- end }}

{{/* Changes a probe: fields replace those of the chart, another handler all of it, and `enabled: false` takes it out. */}}
{{- define "kubedoh.probe" }}
{{- $values := .values | default dict }}
{{- $probe := get .container .name | default dict }}
{{- range $handler := list "exec" "grpc" "httpGet" "tcpSocket" }}{{ if hasKey $values $handler }}{{ $probe = dict }}{{ end }}{{ end }}
{{- include "kubedoh.override" (dict "to" $probe "from" (omit $values "enabled")) }}
{{- $handlers := pick $probe "exec" "grpc" "httpGet" "tcpSocket" }}
{{- if or (eq $values.enabled false) (not $handlers) }}{{ $_ := unset .container .name }}{{ else }}{{ $_ := set .container .name $probe }}{{ end }}
{{- end }}

{{/* Constraints of the values; those without labelSelector are about the component's pods. */}}
{{- define "kubedoh.constraints" -}}
{{- range .values.topologySpreadConstraints }}
- {{ merge (dict) . (dict "labelSelector" (dict "matchLabels" (include "kubedoh.selector" $ | fromYaml))) | toJson }}
{{- end }}
{{- end }}

{{/* Secrets of registries, by name or as Kubernetes has them */}}
{{- define "kubedoh.pullSecrets" -}}
{{- range concat (.Values.image.pullSecrets | default list) (.Values.global.imagePullSecrets | default list) }}
- {{ ternary (dict "name" .) . (kindIs "string" .) | toJson }}
{{- end }}
{{- end }}

{{/* dict "root" "component" "values" MAP-OF-COMPONENT */}}
{{- define "kubedoh.disruption" -}}
{{- $budget := .values.podDisruptionBudget | default dict }}
{{- if not (eq $budget.enabled false) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "kubedoh.metadata" . | nindent 2 }}
spec:
  {{- omit $budget "enabled" "selector" | default (dict "maxUnavailable" 1) | toYaml | nindent 2 }}
  selector: { matchLabels: {{ include "kubedoh.selector" . | fromYaml | toJson }} }
{{- end }}
{{- end }}

{{/* A Service with the settings of its values beside the chart's own: dict "values" MAP "object" MAP */}}
{{- define "kubedoh.service" -}}
{{- $values := .values | default dict }}{{ $object := .object }}
{{- with $object.Error }}{{ fail . }}{{ end }}
{{- range $key := list "type" "clusterIP" "clusterIPs" "externalIPs" "externalTrafficPolicy" "internalTrafficPolicy" "ipFamilies" "ipFamilyPolicy" "loadBalancerClass" "loadBalancerIP" "loadBalancerSourceRanges" "trafficDistribution" }}
{{- with get $values $key }}{{ $_ := set $object.spec $key . }}{{ end }}
{{- end }}
{{- range $key := list "labels" "annotations" }}
{{- with merge (dict) (get $object.metadata $key | default dict) (get $values $key | default dict) }}{{ $_ := set $object.metadata $key . }}{{ end }}
{{- end }}
{{- toYaml $object }}
{{- end }}

{{/*
Allows the ports of pods from the peers of networkPolicy: dict "root" "component", lists of [port, protocol] in "ports" for
queries and requests, and in "metrics" for metrics and probes
*/}}
{{- define "kubedoh.network" -}}
{{- $policy := .root.Values.networkPolicy }}
{{- if $policy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{- include "kubedoh.metadata" . | nindent 2 }}
spec:
  podSelector: { matchLabels: {{ include "kubedoh.selector" . | fromYaml | toJson }} }
  policyTypes: [Ingress{{ if $policy.egress }}, Egress{{ end }}]
  ingress:
    {{- range $rule := list (dict "ports" .ports "from" $policy.from) (dict "ports" .metrics "from" $policy.metricsFrom) }}
    {{- if $rule.ports }}
    - ports:
        {{- range $rule.ports }}
        - { port: {{ index . 0 }}, protocol: {{ index . 1 }} }
        {{- end }}
      {{- with $rule.from }}
      from: {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- end }}
    {{- end }}
  {{- with $policy.egress }}
  egress: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

{{/*
Annotation of pods whose process reads a Secret only when it starts: dict "root" $ "secret" NAME, and in "reloaded" the keys that it reads
again. The Secret is not the chart's, so `helm upgrade` after its change replaces the pods; `helm template` sees no Secret.
*/}}
{{- define "kubedoh.checksum" -}}
{{- $reloaded := regexSplit "\\s+" (.reloaded | default "" | trim) -1 }}
{{- with lookup "v1" "Secret" .root.Release.Namespace .secret }}
{{- $data := .data | default dict }}
{{- range $reloaded }}{{ $data = omit $data . }}{{ end }}
checksum/secret: {{ toJson $data | sha256sum }}
{{- end }}
{{- end }}
