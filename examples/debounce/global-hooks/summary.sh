#!/bin/sh
# One run for a burst of events, with one context for each object that is different in the end.
if [ "${1:-}" = --config ]; then
  cat <<'CONFIG'
configVersion: v1
kubernetes:
- name: parts
  kind: ConfigMap
  apiVersion: v1
  labelSelector: {matchLabels: {example: part}}
  jqFilter: .data
  keepFullObjectsInMemory: false
  executeHookOnSynchronization: false
  queue: summary
  debounce: {after: 2s, max: 30s}
  coalesce: object
CONFIG
  exit
fi

changed=$(grep -o '"watchEvent":"[A-Z][a-z]*"' "$BINDING_CONTEXT_PATH" | wc -l)
echo "one run for $((changed)) changed objects"
