#!/bin/sh
# Runs once, before anything else: creates a namespace that must exist before modules are installed.
if [ "${1:-}" = --config ]; then
  cat <<'CONFIG'
configVersion: v1
onStartup: 10
CONFIG
  exit
fi

cat > "$KUBERNETES_PATCH_PATH" <<'OPERATIONS'
operation: CreateIfNotExists
object:
  apiVersion: v1
  kind: Namespace
  metadata:
    name: example-startup
    labels:
      example: startup-hook
OPERATIONS
echo "namespace example-startup is wanted"
