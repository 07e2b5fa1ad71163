#!/bin/sh
if [ "${1:-}" = --config ]; then
  echo '{"configVersion": "v1", "onStartup": 1}'
  exit
fi
exec bash -c 'source /framework/shell/context.sh; BINDING_CONTEXT_CURRENT_INDEX=0; echo "started by $(context::get binding)"'
