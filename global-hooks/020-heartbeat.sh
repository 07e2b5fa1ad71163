#!/bin/sh
# A metric that stops changing when the operator does not get to its hooks any more: alert on
# time() - heartbeat_timestamp_seconds > 300
if [ "${1:-}" = --config ]; then
  cat <<'CONFIG'
configVersion: v1
schedule:
- name: every minute
  crontab: "* * * * *"
  allowFailure: true
CONFIG
  exit
fi
printf '{"name":"heartbeat_timestamp_seconds","action":"set","value":%s}\n' "$(date +%s)" > "$METRICS_PATH"
