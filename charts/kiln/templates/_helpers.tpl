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
