#!/usr/bin/env bash

if [[ ${1:-} == --config ]]; then
  cat <<'JSON'
{
  "configVersion": "v1",
  "kubernetes": [
    {
      "apiVersion": "events.k8s.io/v1",
      "kind": "Event",
      "namespace": {"nameSelector": {"matchNames": ["example-monitor-events"]}},
      "fieldSelector": {
        "matchExpressions": [
          {"field": "metadata.namespace", "operator": "Equals", "value": "example-monitor-events"}
        ]
      }
    }
  ]
}
JSON
  exit 0
fi

# Printed over several lines; the log joins them to one record.
if jq -e '.[0].type == "Event"' "$BINDING_CONTEXT_PATH" >/dev/null; then
  echo "Got Event:"
  jq '.[].object' "$BINDING_CONTEXT_PATH"
fi
