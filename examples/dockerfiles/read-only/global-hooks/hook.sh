#!/bin/sh
if [ "${1:-}" = --config ]; then
  echo '{"configVersion": "v1", "onStartup": 1}'
  exit
fi
file=$(mktemp)
echo hello >"$file"
cat "$file"
rm "$file"
touch /written 2>/dev/null || echo 'the root file system is read-only'
