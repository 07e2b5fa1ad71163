#!/usr/bin/env bash
source "${FRAMEWORK_DIR:-}/shell_lib.sh"

function __config__() {
  echo '{"configVersion": "v1", "beforeHelm": 10}'
}

function __main__() {
  jq -c '[{op: "add", path: "/limits/internal/total", value: (.limits.perNode * 3)}]' "$VALUES_PATH" >"$VALUES_JSON_PATCH_PATH"
}

hook::run "$@"
