#!/bin/sh
# Exit codes with a meaning: 75 is "not yet", 78 is "never".
if [ "${1:-}" = --config ]; then
  cat <<'CONFIG'
configVersion: v1
settings:
  exitCodes: {temporary: [75], permanent: [78]}
  retry: {within: 24h}
kubernetes:
- name: orders
  kind: ConfigMap
  apiVersion: v1
  labelSelector: {matchLabels: {example: order}}
  jqFilter: '{item: .data.item}'
  keepFullObjectsInMemory: false
  queue: orders
  executeHookOnSynchronization: false
  includeSnapshotsFrom: [prices]
- name: prices
  kind: ConfigMap
  apiVersion: v1
  nameSelector: {matchNames: [prices]}
  jqFilter: .data
  keepFullObjectsInMemory: false
  executeHookOnSynchronization: false
  executeHookOnEvent: []
  queue: orders
CONFIG
  exit
fi

if grep -q '"item":null' "$BINDING_CONTEXT_PATH"; then
  echo "an order has no item" >&2
  exit 78
fi
if grep -q '"prices":\[\]' "$BINDING_CONTEXT_PATH"; then
  echo '{"after": "30s", "reason": "waiting for ConfigMap prices"}' > "$RETRY_PATH"
  exit 75
fi
echo "all orders have a price"
