#!/bin/bash
# Runs the function of a hook that fits each of its binding contexts.

# hook::run "$@": with --config it calls __config__ and ends the hook. Otherwise it calls, for each binding context in
# order, the first function that exists of those hook::handlers names, in a subshell.
function hook::run() {
  if [[ ${1:-} == --config ]]; then
    __config__
    exit 0
  fi
  local count index
  count=$(context::global::jq 'length')
  for ((index = 0; index < count; index++)); do
    export BINDING_CONTEXT_CURRENT_INDEX=$index
    BINDING_CONTEXT_CURRENT_BINDING=$(context::jq -r '.binding // "unknown"')
    export BINDING_CONTEXT_CURRENT_BINDING
    hook::_run_handler
  done
}

# Names of the functions for the current binding context, one a line, the most specific first.
function hook::handlers() {
  context::jq -r '
    (.binding // "unknown") as $binding
    | "__on_kubernetes::\($binding)" as $kubernetes
    | if $binding == "onStartup" then "__on_startup"
      elif .type == "Synchronization" then "\($kubernetes)::synchronization", $kubernetes
      elif .type == "Event" then
        if .watchEvent == "Added" then "\($kubernetes)::added", "\($kubernetes)::added_or_modified"
        elif .watchEvent == "Modified" then "\($kubernetes)::modified", "\($kubernetes)::added_or_modified"
        elif .watchEvent == "Deleted" then "\($kubernetes)::deleted"
        else empty end, $kubernetes
      elif .type == "Group" then "__on_group::\(.groupName)"
      elif .type == "Schedule" then "__on_schedule::\($binding)"
      elif .type == "Validating" then "__on_validating::\($binding)"
      elif .type == "Mutating" then "__on_mutating::\($binding)"
      elif .type == "Conversion" then
        "__on_conversion::\($binding)::\([.fromVersion, .toVersion] | map(sub("/"; ".")) | join("::"))",
        "__on_conversion::\($binding)"
      else empty end,
      "__main__"'
}

function hook::_run_handler() {
  local names name
  names=$(hook::handlers)
  while IFS= read -r -u 3 name; do
    if declare -F -- "$name" >/dev/null; then
      # A handler may change variables or exit without touching the next context. Not part of a condition: that would
      # switch errexit off inside the handler.
      ("$name" 3<&-)
      return
    fi
  done 3<<<"$names"
  echo "ERROR: the hook has no function for this binding context, it needs one of: ${names//$'\n'/, }" >&2
  return 1
}
