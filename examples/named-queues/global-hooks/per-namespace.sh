#!/bin/sh
# One run at a time for each namespace, and two namespaces at a time.
if [ "${1:-}" = --config ]; then
  cat <<'CONFIG'
configVersion: v1
kubernetes:
- name: work
  kind: ConfigMap
  apiVersion: v1
  labelSelector: {matchLabels: {example: work}}
  jqFilter: .data.work
  executeHookOnSynchronization: false
  queue: {name: work, key: namespace, parallel: 2}
CONFIG
  exit
fi

# That of the last event, if there are several.
work=$(sed 's/.*"filterResult":"\([^"]*\)".*/\1/' "$BINDING_CONTEXT_PATH")
if [ "$work" = impossible ]; then
  echo "this cannot be done" >&2
  exit 1
fi
echo "done: $work"
