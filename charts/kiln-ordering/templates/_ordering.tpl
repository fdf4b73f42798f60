{{- /*
Annotations of a Namespace whose pods wait for their Subnets and pools, in whatever order the objects come:
  {{- include "kiln-ordering.await" (dict "subnets" (list "shop-web") "pools" (list)) | nindent 4 }}
*/ -}}
{{- define "kiln-ordering.await" -}}
{{- $annotations := dict -}}
{{- with .subnets -}}{{- $_ := set $annotations "kiln.io/await-subnet" (join "," .) -}}{{- end -}}
{{- with .pools -}}{{- $_ := set $annotations "kiln.io/await-ip-pool" (join "," .) -}}{{- end -}}
{{- toYaml $annotations -}}
{{- end -}}

{{- /*
A container that ends when objects of Kiln have reached a state, for initContainers or a Job. Not in a pod of a Vpc of its own, which does not reach the
API server:
  {{- include "kiln-ordering.wait" (dict "image" "kiln:0.1.0" "objects" (list "subnet/shop-web") "for" "Ready" "timeout" "5m") | nindent 8 }}
Its pod needs the rights of kiln-ordering.rights.
*/ -}}
{{- define "kiln-ordering.wait" -}}
- name: kiln-wait
  image: {{ required "kiln-ordering.wait needs image" .image }}
  args:
    - wait
    {{- range required "kiln-ordering.wait needs objects" .objects }}
    - {{ . | quote }}
    {{- end }}
    - --for={{ .for | default "Ready" }}
    - --timeout={{ .timeout | default "5m" }}
  resources:
    requests:
      cpu: 50m
      memory: 96Mi
    limits:
      memory: 256Mi
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities:
      drop: [ALL]
{{- end -}}

{{- /*
What kiln wait reads, and no more: the named objects. For cluster-wide kinds of kubeovn.io:
  {{- include "kiln-ordering.rights" (dict "name" "shop-wait" "namespace" "shop" "account" "shop" "objects" (list "subnet/shop-web")) }}
*/ -}}
{{- define "kiln-ordering.rights" -}}
{{- $plurals := dict "vpc" "vpcs" "subnet" "subnets" "ippool" "ippools" "vip" "vips" "ovn-eip" "ovn-eips" "ovn-fip" "ovn-fips" "ovn-snat-rule" "ovn-snat-rules" "ovn-dnat-rule" "ovn-dnat-rules" "vlan" "vlans" "provider-network" "provider-networks" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .name }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
rules:
  {{- range .objects }}
  {{- $parts := splitList "/" . }}
  {{- if not (hasKey $plurals (first $parts)) }}
  {{- fail (printf "kiln-ordering.rights: %s is none of %s, with a name after a slash" . (keys $plurals | sortAlpha | join ", ")) }}
  {{- end }}
  - apiGroups: [kubeovn.io]
    resources: [{{ index $plurals (first $parts) }}]
    resourceNames: [{{ last $parts | quote }}]
    verbs: [list, watch]
  {{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .name }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .namespace }}
{{- end -}}

{{- /*
A hook: helm install and helm upgrade end when the objects are ready, and fail when they are not in time. Arguments as of the two above. Its
namespace is one in the default Vpc, such as that of the release.
*/ -}}
{{- define "kiln-ordering.hook" -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  annotations:
    helm.sh/hook: post-install,post-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  backoffLimit: 0
  template:
    spec:
      serviceAccountName: {{ .account }}
      restartPolicy: Never
      containers:
        {{- include "kiln-ordering.wait" . | nindent 8 }}
{{- end -}}
