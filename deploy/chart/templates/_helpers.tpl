{{/* Name of a component's objects: dict "root" $ "component" NAME. The longest Service is NAME-node-cache-upstream, of 63 characters. */}}
{{- define "kubedoh.name" -}}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" .root.Release.Name) }}
{{- fail (printf "the release %q must begin with a letter and have no dots: Services are named after it" .root.Release.Name) }}
{{- end }}
{{- printf "%s-%s" (trunc 43 .root.Release.Name | trimSuffix "-") .component }}
{{- end }}

{{/* Data of a ConfigMap, whatever the text has: dict KEY TEXT. Block scalars must not begin with spaces. */}}
{{- define "kubedoh.data" -}}
data: {{- toYaml . | nindent 2 }}
{{- end }}

{{- define "kubedoh.selector" -}}
app.kubernetes.io/name: kubedoh
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "kubedoh.metadata" -}}
name: {{ include "kubedoh.name" . }}
namespace: {{ .root.Release.Namespace }}
labels: {{- include "kubedoh.labels" . | nindent 2 }}
{{- end }}

{{- define "kubedoh.labels" -}}
{{ include "kubedoh.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{- define "kubedoh.image" -}}
image: {{ include "kubedoh.imageName" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{- define "kubedoh.imageName" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* The capability is that of the file of Node, which does not start without it. */}}
{{- define "kubedoh.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { add: [NET_BIND_SERVICE], drop: [ALL] }
{{- end }}

{{- define "kubedoh.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* Where pods run: dict "root" $ "pod" VALUES, and "tolerations" LIST of the chart */}}
{{- define "kubedoh.placement" -}}
nodeSelector: {{- merge (dict "kubernetes.io/os" "linux") (.pod.nodeSelector | default dict) | toYaml | nindent 2 }}
{{- with concat (.tolerations | default list) (.pod.tolerations | default list) }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- range . }}
  - name: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Of pods that the cluster needs, as kubeadm's CoreDNS: on its control plane too. */}}
{{- define "kubedoh.criticalTolerations" -}}
- { key: CriticalAddonsOnly, operator: Exists }
- { key: node-role.kubernetes.io/control-plane, effect: NoSchedule }
{{- end }}

{{/* Annotations of pods: dict "pod" VALUES, and "corefile" TEXT whose change replaces them */}}
{{- define "kubedoh.annotations" -}}
{{- $own := dict }}
{{- with .corefile }}{{ $own = dict "checksum/corefile" (sha256sum .) }}{{ end }}
{{- with merge $own (.pod.annotations | default dict) }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "kubedoh.spread" -}}
topologySpreadConstraints:
{{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: {{ include "kubedoh.selector" $ | fromYaml | toJson }} }
{{- end }}
{{- end }}

{{/* Rules of rights.yaml that a Corefile needs, as a list: dict "root" "component" "corefile" TEXT */}}
{{- define "kubedoh.rights" -}}
{{- $corefile := regexReplaceAll "(^|\\s)#[^\\n]*" .corefile "" }}
{{- $hosts := list }}
{{- range regexFindAll "k8s_gateway[^{\\n]*(\\{[^}]*\\})?" $corefile -1 }}
{{- $hosts = append $hosts . }}
{{- if not (regexMatch "\\bresources\\b" .) }}{{ $hosts = append $hosts "Ingress" }}{{ end }}
{{- end }}
{{- $text := dict "where" $corefile "host" (join " " $hosts) }}
{{- range .root.Files.Get "rights.yaml" | fromYamlArray }}
{{- $pattern := .where | default (printf "(?i)\\b(%s)\\b" .host) }}
{{- $isHere := regexMatch $pattern (ternary $text.host $text.where (hasKey . "host")) }}
{{- if and $isHere (eq (.only | default $.component) $.component) }}
- {{ toJson .rule }}
{{- end }}
{{- end }}
{{- end }}

{{/* ServiceAccount, and what it may read: dict "root" "component", and "corefile" TEXT "extraRules" LIST, or "rules" LIST */}}
{{- define "kubedoh.access" -}}
{{- $role := printf "%s-%s" .root.Release.Namespace (include "kubedoh.name" .) -}}
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "kubedoh.metadata" . | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $role }}
  labels: {{- include "kubedoh.labels" . | nindent 4 }}
rules:
  {{- with .rules }}
  {{- toYaml . | nindent 2 }}
  {{- else }}
  - apiGroups: [""]
    resources: [services, namespaces]
    verbs: [list, watch]
  - apiGroups: [discovery.k8s.io]
    resources: [endpointslices]
    verbs: [list, watch]
  {{- with include "kubedoh.rights" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with .extraRules }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $role }}
  labels: {{- include "kubedoh.labels" . | nindent 4 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ $role }} }
subjects:
  - { kind: ServiceAccount, name: {{ include "kubedoh.name" . }}, namespace: {{ .root.Release.Namespace }} }
{{- end }}

{{- define "kubedoh.disruption" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "kubedoh.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector: { matchLabels: {{ include "kubedoh.selector" . | fromYaml | toJson }} }
{{- end }}

{{/* dict "root" "component" "ports" LIST of [port, protocol] */}}
{{- define "kubedoh.network" -}}
{{- if .root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{- include "kubedoh.metadata" . | nindent 2 }}
spec:
  podSelector: { matchLabels: {{ include "kubedoh.selector" . | fromYaml | toJson }} }
  policyTypes: [Ingress]
  ingress:
    - ports:
      {{- range .ports }}
        - { port: {{ index . 0 }}, protocol: {{ index . 1 }} }
      {{- end }}
{{- end }}
{{- end }}
