#!/usr/bin/env bash

if [[ ${1:-} == --config ]]; then
  cat <<'JSON'
{
  "configVersion": "v1",
  "onStartup": 5,
  "kubernetes": [
    {
      "name": "OnCreateDeleteNamespace",
      "apiVersion": "v1",
      "kind": "namespace",
      "executeHookOnEvent": ["Added", "Deleted"]
    },
    {
      "name": "OnModifiedNamespace",
      "apiVersion": "v1",
      "kind": "namespace",
      "executeHookOnEvent": ["Modified"],
      "jqFilter": ".metadata.labels"
    }
  ]
}
JSON
  exit 0
fi

jq -r 'if .[0].type == "Synchronization" then "Got Synchronization event" else
  .[]
  | .object.metadata.name as $name
  | if .binding == "onStartup" then "namespace-hook is triggered on startup."
    elif .binding == "OnModifiedNamespace" then "Namespace \($name) labels were modified"
    elif .watchEvent == "Added" then "Namespace \($name) was created"
    else "Namespace \($name) was deleted" end
end' "$BINDING_CONTEXT_PATH"
