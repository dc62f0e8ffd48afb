{{/*
Rights to follow a cluster and to report on its objects, as exporter and gateway do: dict "root" "component" "values" "settings". The
settings have `corefile`, `rbac`, `clientTokens` and `extraRules`.
*/}}
{{- define "kubedoh.following" -}}
{{- $one := . }}
{{- $name := include "kubedoh.name" . }}
{{- $account := include "kubedoh.accountName" . }}
{{- $tokens := .settings.clientTokens | default dict }}
{{- $secrets := $tokens.secretNamespaces | default list }}
{{- $rules := .settings.extraRules | default list }}
{{- if .settings.rbac }}
{{- $rbac := list "roles" "clusterroles" "rolebindings" "clusterrolebindings" }}
{{- $rules = append $rules (dict "apiGroups" (list "rbac.authorization.k8s.io") "resources" $rbac "verbs" (list "list" "watch")) }}
{{- end }}
{{- if $tokens.enabled }}
{{- $rules = append $rules (dict "apiGroups" (list "kubedoh.dev") "resources" (list "clienttokens") "verbs" (list "list" "watch")) }}
{{- $rules = append $rules (dict "apiGroups" (list "kubedoh.dev") "resources" (list "clienttokens/status") "verbs" (list "update")) }}
{{- if has "*" $secrets }}
{{- $rules = append $rules (dict "apiGroups" (list "") "resources" (list "secrets") "verbs" (list "get")) }}
{{- end }}
{{- end }}
{{ include "kubedoh.access" (merge (dict "corefile" (.settings.corefile | default "") "extraRules" $rules) .) }}
{{- if include "kubedoh.hasRights" .root }}
{{- if and $tokens.enabled (not (has "*" $secrets)) }}
{{- range prepend $secrets .root.Release.Namespace | uniq }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $name }}-secrets
  namespace: {{ . }}
  labels: {{- include "kubedoh.labels" $one | nindent 4 }}
rules:
  - { apiGroups: [""], resources: [secrets], verbs: [get] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name }}-secrets
  namespace: {{ . }}
  labels: {{- include "kubedoh.labels" $one | nindent 4 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ $name }}-secrets }
subjects:
  - { kind: ServiceAccount, name: {{ $account }}, namespace: {{ $one.root.Release.Namespace }} }
{{- end }}
{{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{- include "kubedoh.metadata" . | nindent 2 }}
rules:
  - { apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create] }
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [{{ $name }}]
    verbs: [get, update, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{- include "kubedoh.metadata" . | nindent 2 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ $name }} }
subjects:
  - { kind: ServiceAccount, name: {{ $account }}, namespace: {{ .root.Release.Namespace }} }
{{- end }}
{{- end }}

{{/* Variables for it: dict "root" "component" "settings" */}}
{{- define "kubedoh.followingEnv" -}}
- { name: KUBEDOH_LEASE, value: {{ .root.Release.Namespace }}/{{ include "kubedoh.name" . }} }
{{- if .settings.rbac }}
- { name: KUBEDOH_RBAC, value: "1" }
{{- end }}
{{- if (.settings.clientTokens | default dict).enabled }}
- { name: KUBEDOH_CLIENT_TOKENS, value: {{ .root.Release.Namespace }} }
{{- end }}
{{- end }}
