{{/*
Prepares .Values, once: templates read no other names than those of values.yaml. Values of earlier charts and of coredns/helm
move to them, and parts that an earlier chart did not have (`helm upgrade --reuse-values`) are off.
*/}}
{{- define "kubedoh.prepare" }}
{{- if not .Values.isPrepared }}
{{- $_ := set .Values "isPrepared" true }}
{{- range $part := list "global" "image" "rbac" "server" "exporter" "gateway" "router" "nodeCache" "networkPolicy" "monitoring" }}
{{- $_ := set $.Values $part (get $.Values $part | default dict) }}
{{- end }}
{{- range $part := list "service" "autoscaling" "proportional" "coredns" }}
{{- $_ := set $.Values.server $part (get $.Values.server $part | default dict) }}
{{- end }}
{{- range $part := list "service" "ingress" "httpRoute" "dot" }}
{{- $_ := set $.Values.gateway $part (get $.Values.gateway $part | default dict) }}
{{- end }}
{{- $_ := set .Values "commonLabels" (merge (dict) (.Values.commonLabels | default dict) (.Values.customLabels | default dict)) }}
{{- $_ := set .Values "commonAnnotations" (merge (dict) (.Values.commonAnnotations | default dict) (.Values.customAnnotations | default dict)) }}
{{- if include "kubedoh.corednsKeys" . }}{{ include "kubedoh.fromCoreDns" . }}{{ end }}
{{- range $part := list .Values.server .Values.exporter .Values.gateway .Values.router .Values.nodeCache }}
{{- include "kubedoh.formerNames" $part }}
{{- end }}
{{- $service := .Values.server.service }}
{{- $_ := set $service "mode" ($service.mode | default "join") }}
{{- if eq $service.mode "kube-dns" }}
{{- $_ := set $service "name" ($service.name | default "kube-dns") }}
{{- $_ := set $service "labels" (merge (dict) ($service.labels | default dict) (include "kubedoh.clusterServiceLabels" "kube-dns" | fromYaml)) }}
{{- end }}
{{- if eq $service.mode "join" }}
{{- $_ := set .Values.server "service" (omit $service "name" "clusterIP" "clusterIPs") }}
{{- end }}
{{- if ne $service.mode "create" }}
{{- $_ := set .Values.server "podLabels" (merge (dict "k8s-app" "kube-dns") (.Values.server.podLabels | default dict)) }}
{{- end }}
{{- $_ := set .Values.server "ports" (.Values.server.ports | default (list (dict "port" 53 "protocol" "UDP") (dict "port" 53 "protocol" "TCP"))) }}
{{- $_ := set .Values.server "corefile" (include "kubedoh.withCustom" .Values.server) }}
{{- end }}
{{- end }}

{{/* Labels by which others know the Service of the cluster's DNS, with the value of k8s-app */}}
{{- define "kubedoh.clusterServiceLabels" -}}
k8s-app: {{ . }}
kubernetes.io/cluster-service: "true"
kubernetes.io/name: CoreDNS
{{- end }}

{{/* Moves values of a component that have other names in earlier charts, or in those of other projects. */}}
{{- define "kubedoh.formerNames" }}
{{- $part := . }}
{{- $pod := .pod | default dict }}
{{- range $former, $name := dict "annotations" "podAnnotations" "nodeSelector" "nodeSelector" }}
{{- $_ := set $part $name (merge (dict) (get $part $name | default dict) (get $pod $former | default dict)) }}
{{- end }}
{{- range $former, $name := dict "env" "env" "tolerations" "tolerations" "volumes" "extraVolumes" "volumeMounts" "extraVolumeMounts" }}
{{- $_ := set $part $name (concat (get $part $name | default list) (get $pod $former | default list)) }}
{{- end }}
{{- $_ := set $part "env" (concat .env (.extraEnv | default list)) }}
{{- $_ := set $part "affinity" (.affinity | default $pod.affinity) }}
{{- $_ := set $part "podDisruptionBudget" (.podDisruptionBudget | default .pdb | default dict) }}
{{- end }}

{{/* The server's Corefile, with the imports of the ConfigMap coredns-custom; those of k3s have the whole path */}}
{{- define "kubedoh.withCustom" -}}
{{- $text := .corefile | default "" }}
{{- if and .coredns.custom (not (regexMatch "(?m)^[ \t]*import (/etc/coredns/)?custom/" $text)) }}
{{- $text = regexReplaceAll "(?m)^(\\.(:53)?[ \t]*\\{[ \t]*)$" $text "${1}\n    import custom/*.override" }}
{{- $text = printf "%s\nimport custom/*.server\n" (trimSuffix "\n" $text) }}
{{- if not (contains "import custom/*.override" $text) }}
{{- fail "server.coredns.custom needs `import custom/*.override` in server.corefile: no line of it is `.:53 {`" }}
{{- end }}
{{- end }}
{{- $text }}
{{- end }}
