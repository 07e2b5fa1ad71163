#!/usr/bin/env bash

source "$(dirname "$0")/lib/functions.sh"

hook::config() {
  echo '{"configVersion": "v1", "onStartup": 10}'
}

hook::trigger() {
  echo "hook::trigger function is called!"
}

common::run_hook "$@"
