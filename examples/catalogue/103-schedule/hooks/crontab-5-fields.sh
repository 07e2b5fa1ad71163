#!/usr/bin/env bash

if [[ ${1:-} == --config ]]; then
  cat <<'JSON'
{
  "configVersion": "v1",
  "schedule": [
    {"name": "every 1 min", "crontab": "*/1 * * * *"},
    {"name": "every 5 min", "crontab": "*/5 * * * *"}
  ]
}
JSON
  exit 0
fi

echo "Message from 'schedule' hook with 5 fields crontab: $(<"$BINDING_CONTEXT_PATH")"
