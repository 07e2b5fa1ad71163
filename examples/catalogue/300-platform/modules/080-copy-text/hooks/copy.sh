#!/usr/bin/env bash
source "${FRAMEWORK_DIR:-}/shell_lib.sh"

function __config__() {
  cat <<'EOF'
configVersion: v1
kubernetes:
- name: texts
  apiVersion: v1
  kind: configmap
  labelSelector:
    matchExpressions:
    - {key: platform, operator: In, values: [text]}
  executeHookOnEvent: [Added, Modified]
  jqFilter: "{namespace: .metadata.namespace, text: .data.text}"
EOF
}

function __on_kubernetes::texts() {
  context::jq -c '(.objects[]?, .) | select(.filterResult) | .filterResult
    | {operation: "CreateOrUpdate", object: {apiVersion: "v1", kind: "Secret",
       metadata: {name: "text", namespace: .namespace}, stringData: {text: .text}}}' >>"$KUBERNETES_PATCH_PATH"
}

hook::run "$@"
