#!/usr/bin/env bash

if [[ ${1:-} == --config ]]; then
  echo '{"configVersion": "v1", "schedule": [{"name": "every 15 min", "crontab": "*/15 * * * *"}]}'
  exit 0
fi

echo "Message from Schedule hook!"
