#!/usr/bin/env bash

if [[ ${1:-} == --config ]]; then
  cat <<'JSON'
{
  "configVersion": "v1",
  "kubernetes": [
    {
      "name": "OnCreateDeleteNamespace",
      "apiVersion": "v1",
      "kind": "Namespace",
      "executeHookOnEvent": ["Added", "Deleted"]
    },
    {
      "name": "OnModifiedNamespace",
      "apiVersion": "v1",
      "kind": "Namespace",
      "executeHookOnEvent": ["Modified"],
      "jqFilter": ".metadata.labels"
    }
  ]
}
JSON
  exit 0
fi

jq -r '.[]
  | .object.metadata.name as $name
  | if .type == "Synchronization" then "Got Synchronization event for \(.binding)"
    elif .binding == "OnModifiedNamespace" then "Namespace \($name) labels were modified"
    elif .watchEvent == "Added" then "Namespace \($name) was created"
    else "Namespace \($name) was deleted" end' "$BINDING_CONTEXT_PATH"
