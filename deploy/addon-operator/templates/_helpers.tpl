{{- define "operator.name" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "operator.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "addon-operator" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The operator sets it on its own pod while it accepts webhook requests, if it may. */}}
{{- define "operator.endpointLabel" -}}
{{- if and .Values.highAvailability.enabled .Values.webhooks.enabled .Values.rbac.create -}}
addon-operator.io/webhooks: serving
{{- end -}}
{{- end -}}

{{- define "operator.labels" -}}
{{ include "operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
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

{{- define "operator.image" -}}
{{- $repository := required "image.repository is empty: name the image with your modules, such as --set image.repository=registry.example.com/my-operator (docs/install.md)" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest | quote -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) | quote -}}
{{- end -}}
{{- end -}}

{{/* The address of the page for browsers outside of the cluster; empty without an Ingress. */}}
{{- define "operator.pageUrl" -}}
{{- with .Values.ui.ingress -}}
{{- if .enabled -}}
{{- printf "%s://%s/ui/" (empty .tlsSecretName | ternary "http" "https") .host -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The address of docs/runbooks.md: that of the release, if the chart knows where its sources are. Empty: unknown. */}}
{{- define "operator.runbooks" -}}
{{- if .Values.metrics.alerts.runbookBase -}}
{{- .Values.metrics.alerts.runbookBase -}}
{{- else if .Chart.Home -}}
{{- printf "%s/blob/v%s/docs/runbooks.md" (trimSuffix "/" .Chart.Home) .Chart.AppVersion -}}
{{- end -}}
{{- end -}}

{{- define "operator.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* What names the webhooks of the operator. */}}
{{- define "operator.webhookEnv" -}}
- name: ADDON_OPERATOR_VALIDATING_WEBHOOK_SERVICE_NAME
  value: {{ .Values.webhooks.admissionService | quote }}
- name: ADDON_OPERATOR_CONVERSION_WEBHOOK_SERVICE_NAME
  value: {{ .Values.webhooks.conversionService | quote }}
{{- end -}}

{{- define "operator.settingsEnv" -}}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  {{- /* Numbers of values files are floats: toString would write large ones as 1e+06. */}}
  value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
{{- end }}
{{- end -}}

{{- /* Where versions of modules are kept; empty without a store. */}}
{{- define "operator.moduleStore" -}}
{{- if or .Values.moduleStore.enabled .Values.moduleSources .Values.moduleInstalls -}}
/var/lib/addon-operator/modules
{{- end -}}
{{- end -}}

{{- /* The ConfigMap with sources and installs as a file; empty where they are objects. */}}
{{- define "operator.moduleSourcesMap" -}}
{{- if and .Values.moduleSourcesFile (or .Values.moduleSources .Values.moduleInstalls) -}}
{{ include "operator.name" . }}-modules
{{- end -}}
{{- end -}}

{{- /* Sources and installs as documents. */}}
{{- define "operator.moduleDocuments" -}}
{{- $metadata := dict -}}
{{- if not .Values.moduleSourcesFile -}}
{{- $metadata = dict "labels" (include "operator.labels" . | fromYaml) "annotations" (dict "helm.sh/resource-policy" "keep") -}}
{{- end -}}
{{- $ofKind := dict "ModuleSource" .Values.moduleSources "ModuleInstall" .Values.moduleInstalls -}}
{{- range $kind := list "ModuleSource" "ModuleInstall" }}
{{- range $name, $spec := get $ofKind $kind }}
---
{{ dict "apiVersion" "addon-operator.io/v1alpha1" "kind" $kind "metadata" (merge (dict "name" $name) $metadata) "spec" $spec | toYaml }}
{{- end }}
{{- end }}
{{- end -}}
