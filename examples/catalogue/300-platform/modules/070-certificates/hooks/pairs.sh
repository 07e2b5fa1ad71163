#!/usr/bin/env bash
source "${FRAMEWORK_DIR:-}/shell_lib.sh"

function __config__() {
  cat <<'EOF'
configVersion: v1
kubernetes:
- name: domains
  kind: ConfigMap
  labelSelector: {matchLabels: {platform: domains}}
  jqFilter: .data.domain
  executeHookOnSynchronization: false
  executeHookOnEvent: []
- name: requests
  kind: ConfigMap
  labelSelector: {matchLabels: {platform: request}}
  jqFilter: .metadata.name
  group: certificates
  includeSnapshotsFrom: [domains]
- name: issued
  kind: Secret
  labelSelector: {matchLabels: {platform: certificate}}
  jqFilter: .metadata.name
  keepFullObjectsInMemory: false
  group: certificates
  includeSnapshotsFrom: [domains]
EOF
}

function __on_group::certificates() {
  context::jq -r '.snapshots | "\(.requests | map(.filterResult)) for \(.domains | map(.filterResult)), issued \(.issued | map(.filterResult))"'
}

hook::run "$@"
