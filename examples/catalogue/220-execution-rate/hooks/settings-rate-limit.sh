#!/usr/bin/env bash

if [[ ${1:-} == --config ]]; then
  cat <<'YAML'
configVersion: v1
settings:
  executionMinInterval: 5s
  executionBurst: 2
kubernetes:
  - name: crontabs
    apiVersion: stable.example.com/v1
    kind: ct
YAML
  exit 0
fi

echo "RateLimitedHook binding contexts: $(jq length "$BINDING_CONTEXT_PATH")"
