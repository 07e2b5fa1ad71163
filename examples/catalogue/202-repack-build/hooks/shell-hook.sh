#!/usr/bin/env bash

case ${1:-} in
  --config) echo '{"configVersion": "v1", "onStartup": 1}' ;;
  *) echo "OnStartup shell hook" ;;
esac
