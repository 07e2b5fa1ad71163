{{- define "helm_lib_module_labels" -}}
{{- $context := index . 0 -}}
platform: example
module: {{ $context.Chart.Name }}
{{- range $name, $value := index . 1 }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end -}}
