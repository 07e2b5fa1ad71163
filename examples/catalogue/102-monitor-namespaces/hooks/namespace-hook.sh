#!/usr/bin/env bash

# For --config there is no file: jq then reads standard input, which is empty, and the count is empty too.
count=$(jq -r length $BINDING_CONTEXT_PATH)

if [[ ${1:-} == --config ]]; then
  cat <<'YAML'
configVersion: v1
kubernetes:
  - name: OnCreateDeleteNamespace
    apiVersion: v1
    kind: Namespace
    executeHookOnEvent: [Added, Deleted]
  - name: OnModifiedNamespace
    apiVersion: v1
    kind: Namespace
    executeHookOnEvent: [Modified]
    jqFilter: .metadata.labels
YAML
  exit 0
fi

if jq -e '.[0].type == "Synchronization"' "$BINDING_CONTEXT_PATH" >/dev/null; then
  echo "Got Synchronization event"
  exit 0
fi

for ((index = 0; index < count; index++)); do
  read -r binding event name < <(
    jq -r ".[$index] | \"\(.binding) \(.watchEvent) \(.object.metadata.name)\"" "$BINDING_CONTEXT_PATH"
  )
  case $binding/$event in
    OnModifiedNamespace/*) echo "Namespace $name labels were modified" ;;
    */Added) echo "Namespace $name was created" ;;
    */Deleted) echo "Namespace $name was deleted" ;;
  esac
done
