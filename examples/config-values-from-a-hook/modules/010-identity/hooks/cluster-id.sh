#!/bin/sh
# Gives the cluster an id, once: it is kept in the ConfigMap of the operator.
if [ "${1:-}" = --config ]; then
  cat <<'CONFIG'
configVersion: v1
onStartup: 10
CONFIG
  exit
fi

if grep -q '"identity":{.*"clusterId":"' "$CONFIG_VALUES_PATH"; then
  echo "the cluster has an id"
  exit
fi
id=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
printf '{"op":"add","path":"/identity/clusterId","value":"%s"}\n' "$id" > "$CONFIG_VALUES_JSON_PATCH_PATH"
echo "the cluster gets the id $id"
