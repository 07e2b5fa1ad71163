#!/usr/bin/env bash

source "${FRAMEWORK_DIR:-}/shell_lib.sh"

__config__() {
  cat <<'YAML'
configVersion: v1
kubernetesValidating:
  - name: private-repo-policy.example.com
    namespace:
      labelSelector:
        matchLabels:
          name: example-204
    rules:
      - apiGroups: [stable.example.com]
        apiVersions: [v1]
        operations: [CREATE, UPDATE]
        resources: [crontabs]
        scope: Namespaced
YAML
}

__on_validating::private-repo-policy.example.com() {
  local image
  image=$(context::get review.request.object.spec.image)
  echo "Got image: $image"
  case $image in
    repo.example.com/*) echo '{"allowed": true}' ;;
    *) echo '{"allowed": false, "message": "Only images from repo.example.com are allowed"}' ;;
  esac >"$VALIDATING_RESPONSE_PATH"
}

hook::run "$@"
