#!/usr/bin/env bash

if [[ ${1:-} == --config ]]; then
  cat <<'JSON'
{
  "configVersion": "v1",
  "kubernetes": [
    {"apiVersion": "stable.example.com/v1", "kind": "Crontab", "executeHookOnEvent": ["Added"]}
  ]
}
JSON
  exit 0
fi

jq -r '.[] | select(.type == "Event").object | "\(.kind)/\(.metadata.name) object is added"' "$BINDING_CONTEXT_PATH"
