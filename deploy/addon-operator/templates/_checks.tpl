{{/* Values that cannot work, with the way out: each of them would otherwise end in a pod that fails, or in silence. */}}
{{- define "operator.checks" -}}
{{- $own := list "ADDON_OPERATOR_NAMESPACE" "ADDON_OPERATOR_CONFIG_MAP" "ADDON_OPERATOR_LISTEN_PORT" "ADDON_OPERATOR_LISTEN_ADDRESS" "ADDON_OPERATOR_POD" "ADDON_OPERATOR_HA" "ADDON_OPERATOR_HOOK_ENV" "ADDON_OPERATOR_HOOK_ENV_ALLOW" "HELM_IGNORE_RELEASE" "LOG_LEVEL" "LOG_TYPE" "ADDON_OPERATOR_VALIDATING_WEBHOOK_SERVICE_NAME" "ADDON_OPERATOR_CONVERSION_WEBHOOK_SERVICE_NAME" "ADDON_OPERATOR_MODULE_STORE" "ADDON_OPERATOR_MODULE_SOURCES" "ADDON_OPERATOR_NOTIFY_CONFIG" -}}
{{- $known := .Files.Lines "files/settings.txt" -}}
{{- range $name, $value := .Values.settings -}}
{{- if has $name $own -}}
{{- fail (printf "settings.%s: the chart sets this variable itself" $name) -}}
{{- end -}}
{{- /* Programs below the operator read the others. */ -}}
{{- if not (or (has $name $known) (regexMatch "^(OTEL|NODE|SSL_CERT|LC)_|^HELM_(QPS|BURST_LIMIT|DEBUG|PLUGINS|CACHE_HOME|CONFIG_HOME|DATA_HOME|REGISTRY_CONFIG|REPOSITORY_CACHE|REPOSITORY_CONFIG|KUBE[A-Z_]+)$|^(HTTPS?|NO|ALL)_PROXY$|^(TZ|LANG)$" $name)) -}}
{{- fail (printf "settings.%s: the operator has no such setting (docs/settings.md lists them): correct the name, or put variables of hooks into env" $name) -}}
{{- end -}}
{{- if and (has $name ($.Files.Lines "files/duration-settings.txt")) (not (regexMatch "^(0|(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|µs|ms|s|m|h))+)$" (toString $value))) -}}
{{- fail (printf "settings.%s is %v: it must be a duration such as 90s, 20m or 1h30m" $name $value) -}}
{{- end -}}
{{- end -}}
{{- range $name := list "replicas" "replicaCount" -}}
{{- if hasKey $.Values $name -}}
{{- fail (printf "%s: the chart has no such value, because replicas without a lease would work against each other: set highAvailability.enabled to true, which runs highAvailability.replicas of them" $name) -}}
{{- end -}}
{{- end -}}
{{- if and (not .Values.highAvailability.enabled) (ne (int .Values.highAvailability.replicas) 2) -}}
{{- fail (printf "highAvailability.replicas is %d, but without highAvailability.enabled there is one replica: set highAvailability.enabled to true" (int .Values.highAvailability.replicas)) -}}
{{- end -}}
{{- if .Values.webhooks.enabled -}}
{{- range $name := list "VALIDATING_WEBHOOK_SERVER_CERT" "ADDON_OPERATOR_VALIDATING_WEBHOOK_SERVER_CERT" "CONVERSION_WEBHOOK_SERVER_CERT" "ADDON_OPERATOR_CONVERSION_WEBHOOK_SERVER_CERT" -}}
{{- if and (hasKey $.Values.settings $name) (not $.Values.volumeMounts) -}}
{{- fail (printf "settings.%s names a file, but nothing is mounted: add the Secret with the certificate to volumes and volumeMounts, or remove the setting, and the operator makes a certificate itself" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with .Values.ui -}}
{{- if and .enabled (eq .auth "proxy") (not .proxy.secretName) -}}
{{- fail "ui.auth is proxy, but ui.proxy.secretName is empty: name a Secret whose key `secret` is what the proxy sends, otherwise any client could name a user (docs/ui.md)" -}}
{{- end -}}
{{- if and .proxy.secretName (ne .auth "proxy") -}}
{{- fail (printf "ui.proxy.secretName is set, but ui.auth is %s: set it to proxy, or remove the Secret" .auth) -}}
{{- end -}}
{{- end -}}
{{- with .Values.ui.ingress -}}
{{- if .enabled -}}
{{- if not $.Values.ui.enabled -}}
{{- fail "ui.ingress.enabled leads to a page that is off: set ui.enabled to true" -}}
{{- end -}}
{{- if not .host -}}
{{- fail "ui.ingress.host is empty: name the host under which browsers reach the page" -}}
{{- end -}}
{{- if not $.Values.containers -}}
{{- fail "ui.ingress.enabled needs a proxy in the pod, because the page listens on 127.0.0.1: add one to containers, such as oauth2-proxy, and its port to ui.ingress.port (docs/ui.md)" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with .Values.moduleStore -}}
{{- if and .storageClassName .existingClaim -}}
{{- fail "moduleStore has both existingClaim and storageClassName: the first is a claim of yours, the second makes one; remove one of them" -}}
{{- end -}}
{{- if and $.Values.highAvailability.enabled (or .storageClassName .existingClaim) -}}
{{- fail "moduleStore names a PersistentVolumeClaim, but with highAvailability.enabled each replica needs a store of its own: remove storageClassName and existingClaim, and each replica has an emptyDir, which it fills itself" -}}
{{- end -}}
{{- end -}}
{{- $served := .Capabilities.APIVersions -}}
{{- $isUpgrade := and .Release.IsUpgrade ($served.Has "addon-operator.io/v1alpha1/Module") -}}
{{- if and (or .Values.moduleSources .Values.moduleInstalls) (not .Values.moduleSourcesFile) $isUpgrade (not ($served.Has "addon-operator.io/v1alpha1/ModuleInstall")) -}}
{{- fail "moduleSources and moduleInstalls: the cluster does not serve ModuleInstall yet, because helm installs the directory crds of a chart with the first release only. Upgrade without these values first, and the new operator installs its CRDs; or apply crds/ of this chart with kubectl; or set moduleSourcesFile to true" -}}
{{- end -}}
{{- with dig "limits" "memory" "" (.Values.resources | default dict) -}}
{{- if lt (include "operator.mebibytes" . | float64) 128.0 -}}
{{- fail (printf "resources.limits.memory is %v: with less than 128Mi the operator is killed before its first converge is complete, and hooks and helm need more memory; the default is 1Gi" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A quantity of memory in MiB. */}}
{{- define "operator.mebibytes" -}}
{{- $text := toString . -}}
{{- $factors := dict "" (divf 1.0 1048576) "k" (divf 1000.0 1048576) "Ki" (divf 1024.0 1048576) "M" (divf 1000000.0 1048576) "Mi" 1.0 "G" (divf 1000000000.0 1048576) "Gi" 1024.0 "T" 953674.0 "Ti" 1048576.0 -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- /* Other units mean very much or nonsense, which the API server refuses. */}}
{{- mulf (regexFind "^[0-9.]+(e[0-9]+)?" $text | float64) (get $factors $unit | default 1024.0) -}}
{{- end -}}
