#!/usr/bin/env bash
source "${FRAMEWORK_DIR:-}/shell_lib.sh"

function __config__() {
  echo 'configVersion: v1
beforeHelm: 10'
}

function __main__() {
  jq -cn '[{op: "add", path: "/commonLabels/team", value: "platform"}]' >"$VALUES_JSON_PATCH_PATH"
}

hook::run "$@"
