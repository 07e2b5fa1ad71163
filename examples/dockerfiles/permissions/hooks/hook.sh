#!/bin/sh
if [ "${1:-}" = --config ]; then
  echo '{"configVersion": "v1", "onStartup": 1}'
  exit
fi
echo hello >/data/greeting
ls /old-hooks
