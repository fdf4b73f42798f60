{{- /* Whether a part is installed: (list . "agent") gives "true" or nothing. */ -}}
{{- define "kiln.part" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $chosen := index $root.Values.parts $name | toString -}}
{{- $modes := include "kiln.modes" $root | fromYaml -}}
{{- if eq $chosen "true" -}}
true
{{- else if and (eq $chosen "auto") (has $name (index $modes $root.Values.mode)) -}}
{{- if or (ne $name "policies") (semverCompare ">=1.31-0" $root.Capabilities.KubeVersion.Version) -}}
true
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "kiln.image" -}}
{{- $root := index . 0 -}}
{{- printf "%s%s:%s" $root.Values.images.registry (index . 1) (default $root.Chart.AppVersion $root.Values.images.tag) -}}
{{- end -}}

{{- /* Whether the Northbound database asks for a client certificate. */ -}}
{{- define "kiln.keys" -}}
{{- if or (include "kiln.part" (list . "ovn")) (contains "ssl:" .Values.ovn.nb) -}}
true
{{- end -}}
{{- end -}}

{{- /* The controller's settings: those of deploy, of the mode, then value config. */ -}}
{{- define "kiln.settings" -}}
{{- $settings := include "kiln.defaults" . | fromYaml -}}
{{- if eq .Values.mode "beside-kube-ovn" -}}
{{- $_ := set $settings "tenancy" "open" -}}
{{- end -}}
{{- if not (include "kiln.part" (list . "webhook")) -}}
{{- $_ := set $settings "webhookBindAddress" "off" -}}
{{- end -}}
{{- if .Values.metrics.tokenSecret -}}
{{- $_ := set $settings "metricsBindAddress" ":10670" -}}
{{- $_ := set $settings "metricsTokenFile" "/etc/kiln/metrics/token" -}}
{{- end -}}
{{- range $key, $value := .Values.config -}}
{{- $_ := set $settings $key $value -}}
{{- end -}}
{{- toYaml $settings -}}
{{- end -}}

{{- /* The same as variables of a container. Helm reads every number as a fraction, and would print large ones as 1e+06. */ -}}
{{- define "kiln.variables" -}}
{{- range $key, $value := include "kiln.settings" . | fromYaml }}
- name: KILN_{{ regexReplaceAll "[A-Z]" $key "_${0}" | upper }}
  value: {{ include "kiln.text" $value | quote }}
{{- end }}
{{- end -}}

{{- define "kiln.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}
{{- int64 . -}}
{{- else if kindIs "slice" . -}}
{{- if and . (kindIs "map" (first .)) -}}{{- toJson . -}}{{- else -}}{{- join "," . -}}{{- end -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{- define "kiln.distribution" -}}
{{- $version := .Capabilities.KubeVersion.Version -}}
{{- if ne .Values.distribution "auto" -}}{{- .Values.distribution -}}
{{- else if contains "+k3s" $version -}}k3s
{{- else if contains "+rke2" $version -}}rke2
{{- else -}}kubeadm
{{- end -}}
{{- end -}}

{{- /* Where a node has something: (list . "cniBin"), as the values say, else as the distribution has it. */ -}}
{{- define "kiln.place" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $chosen := dict "cniBin" $root.Values.agent.cniBin "cniConf" $root.Values.agent.cniConf "nodeLabel" $root.Values.ovn.nodeLabel -}}
{{- $places := index (include "kiln.distributions" $root | fromYaml) (include "kiln.distribution" $root) -}}
{{- default (index $places $name) (index $chosen $name) -}}
{{- end -}}

{{- /* Without a node for OVN's members all would wait for them, and no object say why: a DaemonSet without nodes counts as rolled out. */ -}}
{{- define "kiln.checkNodes" -}}
{{- if include "kiln.part" (list . "ovn") -}}
{{- $label := include "kiln.place" (list . "nodeLabel") -}}
{{- $nodes := (lookup "v1" "Node" "" "").items -}}
{{- $found := false -}}
{{- range $nodes -}}
{{- if hasKey (default dict .metadata.labels) $label -}}{{- $found = true -}}{{- end -}}
{{- end -}}
{{- if and $nodes (not $found) -}}
{{- fail (printf "no node has label %s, so OVN would have no member (one, three or five): kubectl label node NAME %s= , or name another label in ovn.nodeLabel; for MicroK8s set distribution=microk8s" $label $label) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Whether another CNI plugin provides the primary interface of pods: a setting of the controller, which the agent follows. */ -}}
{{- define "kiln.nonPrimary" -}}
{{- if eq (index .Values.config "nonPrimaryCniMode" | toString) "true" -}}true{{- end -}}
{{- end -}}

{{- define "kiln.installArgs" -}}
- install-cni
{{- if include "kiln.nonPrimary" . }}
- --non-primary-cni-mode
{{- end }}
{{- end -}}
