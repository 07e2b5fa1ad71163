#!/usr/bin/env bash

if [[ ${1:-} == --config ]]; then
  cat <<'YAML'
configVersion: v1
kubernetes:
  - apiVersion: v1
    kind: Pod
    executeHookOnEvent: [Added]
YAML
  exit 0
fi

# The Synchronization lists the Pods that were there before; only what comes later is told.
jq -r --arg quote "'" '.[] | select(.type == "Event") | "Pod \($quote)\(.object.metadata.name)\($quote) added"' "$BINDING_CONTEXT_PATH"
