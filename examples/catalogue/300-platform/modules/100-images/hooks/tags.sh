#!/usr/bin/env bash
if [[ ${1:-} == --config ]]; then
  echo '{"configVersion": "v1", "beforeHelm": 1}'
  exit
fi
# A tag that names the content of the directory.
tag=$(cd "$(dirname "$0")/../images/web" && cat Dockerfile index.html | sha256sum | cut -c 1-12)
jq -cn --arg tag "$tag" '[{op: "add", path: "/images/tags/web", value: $tag}]' >"$VALUES_JSON_PATCH_PATH"
