#!/usr/bin/env bash

source "${FRAMEWORK_DIR:-}/shell_lib.sh"

__config__() {
  cat <<'YAML'
configVersion: v1
kubernetesMutating:
  - name: change.crontab.resources
    namespace:
      labelSelector:
        matchLabels:
          name: example-206
    rules:
      - apiGroups: [stable.example.com]
        apiVersions: [v1]
        operations: [CREATE, UPDATE]
        resources: [crontabs]
        scope: Namespaced
YAML
}

__main__() {
  context::get review.request
  # The patch is base64 on one line.
  local patch
  patch=$(base64 -w 0 <<<'[{"op": "add", "path": "/spec/replicas", "value": 333}]')
  echo "{\"allowed\": true, \"patch\": \"$patch\"}" >"$VALIDATING_RESPONSE_PATH"
}

hook::run "$@"
