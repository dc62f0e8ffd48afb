{{/*
Name of a component's objects: dict "root" $ "component" NAME. With fullnameOverride the server has just this name, as CoreDNS's
objects have. The longest Service is NAME-node-cache-upstream, of 63 characters.
*/}}
{{- define "kubedoh.name" -}}
{{- $values := .root.Values }}
{{- $name := $values.fullnameOverride | default .root.Release.Name }}
{{- if and $values.nameOverride (not $values.fullnameOverride) (not (contains $values.nameOverride $name)) }}
{{- $name = printf "%s-%s" $name $values.nameOverride }}
{{- end }}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" $name) }}
{{- fail (printf "the release %q must begin with a letter and have no dots: Services are named after it" $name) }}
{{- end }}
{{- $name = trunc 43 $name | trimSuffix "-" }}
{{- if not (and $values.fullnameOverride (eq .component "server")) }}{{ $name = printf "%s-%s" $name .component }}{{ end }}
{{- $name }}
{{- end }}

{{/* Data of a ConfigMap, whatever the text has: dict KEY TEXT. Block scalars must not begin with spaces. */}}
{{- define "kubedoh.data" -}}
data: {{- toYaml . | nindent 2 }}
{{- end }}

{{- define "kubedoh.app" -}}
{{ .Values.nameOverride | default "kubedoh" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "kubedoh.selector" -}}
app.kubernetes.io/name: {{ include "kubedoh.app" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Metadata of an object in the release's namespace: dict "root" "component", also "name" and "annotations" */}}
{{- define "kubedoh.metadata" -}}
name: {{ .name | default (include "kubedoh.name" .) }}
namespace: {{ .root.Release.Namespace }}
labels: {{- include "kubedoh.labels" . | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "kubedoh.labels" -}}
{{ include "kubedoh.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- with omit .root.Values.commonLabels "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "kubedoh.image" -}}
image: {{ include "kubedoh.imageName" (dict "root" . "image" .Values.image "tag" .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{/* Reference of an image: dict "root" $ "image" MAP-OR-TEXT, and "tag" for a map without one */}}
{{- define "kubedoh.imageName" -}}
{{- $image := .image }}
{{- $tag := "" }}
{{- if kindIs "string" $image }}{{ $image = dict "repository" $image }}{{ else }}{{ $tag = $image.tag | default .tag }}{{ end }}
{{- $path := required "image.repository is the name of the image" $image.repository }}
{{- $hasRegistry := regexMatch "^([^/]*[.:][^/]*|localhost)/" $path }}
{{- with .root.Values.global.imageRegistry }}
{{- if $hasRegistry }}{{ $path = regexReplaceAll "^[^/]*/" $path "" }}{{ end }}
{{- trimSuffix "/" . }}/{{ else }}
{{- if not $hasRegistry }}{{ with $image.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ end }}
{{- end }}
{{- $path }}
{{- with $tag }}:{{ . }}{{ end }}
{{- with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* Reference of a variant's image: dict "root" $, "variant" "node", "image" MAP-OR-TEXT */}}
{{- define "kubedoh.variantImage" -}}
{{- $tag := printf "%s-%s" (.root.Values.image.tag | default .root.Chart.AppVersion) .variant }}
{{- $image := .image | default dict }}
{{- if kindIs "map" $image }}{{ $image = merge (dict) $image (pick .root.Values.image "registry" "repository") }}{{ end }}
{{- include "kubedoh.imageName" (dict "root" .root "image" $image "tag" $tag) }}
{{- end }}

{{/* The capability is that of the runtime's file, which does not start without it. */}}
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

{{/* Of pods that the cluster needs, as kubeadm's CoreDNS: on its control plane too. */}}
{{- define "kubedoh.criticalTolerations" -}}
- { key: CriticalAddonsOnly, operator: Exists }
- { key: node-role.kubernetes.io/control-plane, effect: NoSchedule }
{{- end }}

{{/*
Not topologySpreadConstraints for both: the scheduler leaves nodes that lack one of the labels out of account, and in a cluster
without zones both servers then ran on one node.
*/}}
{{- define "kubedoh.spread" -}}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
{{- range $key, $weight := dict "kubernetes.io/hostname" 100 "topology.kubernetes.io/zone" 50 }}
      - weight: {{ $weight }}
        podAffinityTerm: { topologyKey: {{ $key }}, labelSelector: { matchLabels: {{ include "kubedoh.selector" $ | fromYaml | toJson }} } }
{{- end }}
{{- end }}

{{/* Rules of rights.yaml that a Corefile needs, as a list: dict "root" "component" "corefile" TEXT */}}
{{- define "kubedoh.rights" -}}
{{- /* A gateway with rights follows its cluster as the exporter does. */}}
{{- $component := ternary "exporter" .component (eq .component "gateway") }}
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
{{- if and $isHere (eq (.only | default $component) $component) }}
- {{ toJson .rule }}
{{- end }}
{{- end }}
{{- end }}

{{/* Not empty: the chart has Roles and their bindings. */}}
{{- define "kubedoh.hasRights" -}}
{{- if not (eq .Values.rbac.create false) }}true{{ end }}
{{- end }}

{{/*
ServiceAccount of pods: dict "root" "component" "values". Those that use the API server have one unless serviceAccount.create is
false; others need one for the identity that a cloud gives it.
*/}}
{{- define "kubedoh.account" -}}
{{- if include "kubedoh.ownsAccount" . }}
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "kubedoh.metadata" (merge (dict "name" (include "kubedoh.accountName" .) "annotations" (.values.serviceAccount | default dict).annotations) .) | nindent 2 }}
{{- end }}
{{- end }}

{{- define "kubedoh.ownsAccount" -}}
{{- $usesApi := or (not (has .component (list "gateway" "node-cache"))) (.values.kubernetes | default dict).enabled }}
{{- if dig "create" $usesApi (.values.serviceAccount | default dict) }}true{{ end }}
{{- end }}

{{- define "kubedoh.accountName" -}}
{{- $default := ternary (include "kubedoh.name" .) "default" (eq (include "kubedoh.ownsAccount" .) "true") }}
{{- (.values.serviceAccount | default dict).name | default $default }}
{{- end }}

{{/* ServiceAccount, and what it may read: dict "root" "component" "values", and "corefile" TEXT "extraRules" LIST, or "rules" LIST */}}
{{- define "kubedoh.access" -}}
{{- $role := printf "%s-%s" .root.Release.Namespace (include "kubedoh.name" .) -}}
{{ include "kubedoh.account" . }}
{{- if include "kubedoh.hasRights" .root }}
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
  - { kind: ServiceAccount, name: {{ include "kubedoh.accountName" . }}, namespace: {{ .root.Release.Namespace }} }
{{- end }}
{{- end }}
