{{- define "operator.name" -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "operator.selector" -}}
app.kubernetes.io/name: addon-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "operator.labels" -}}
{{ include "operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{- define "operator.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "operator.name" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* Names of objects without a namespace: two operators may be in one cluster. */}}
{{- define "operator.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "operator.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The setting has two variables, the longer one first. */}}
{{- define "operator.webhookConfiguration" -}}
{{- .Values.settings.ADDON_OPERATOR_VALIDATING_WEBHOOK_CONFIGURATION_NAME | default .Values.settings.VALIDATING_WEBHOOK_CONFIGURATION_NAME | default "shell-operator-hooks" -}}
{{- end -}}
