#!/bin/sh
if [ "${1:-}" = --config ]; then
  echo '{"configVersion": "v1", "onStartup": 1}'
  exit
fi
# shellcheck disable=SC2016
echo 'envsubst says: $GREETING' | GREETING=hello envsubst
