#!/bin/sh
if [ "$1" = --config ]; then
  echo '{"configVersion": "v1", "beforeHelm": 10}'
  exit
fi
echo '{"op": "add", "path": "/web/zone", "value": "a"}' > "$VALUES_JSON_PATCH_PATH"
