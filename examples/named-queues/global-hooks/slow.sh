#!/bin/sh
# Takes its time, in a queue of its own.
if [ "${1:-}" = --config ]; then
  cat <<'CONFIG'
configVersion: v1
schedule:
- name: report
  crontab: "*/10 * * * * *"
  queue: reports
CONFIG
  exit
fi

echo "report begins"
sleep 3
echo "report ends"
