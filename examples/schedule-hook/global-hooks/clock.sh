#!/bin/sh
# Two schedules, one hook: the name in the binding context says which of them it is.
if [ "${1:-}" = --config ]; then
  cat <<'CONFIG'
configVersion: v1
schedule:
- name: often
  crontab: "*/10 * * * * *"
- name: hourly
  crontab: "0 * * * *"
  allowFailure: true
CONFIG
  exit
fi

if grep -q '"binding":"often"' "$BINDING_CONTEXT_PATH"; then echo "ten seconds have passed"; fi
if grep -q '"binding":"hourly"' "$BINDING_CONTEXT_PATH"; then echo "a new hour has begun"; fi
