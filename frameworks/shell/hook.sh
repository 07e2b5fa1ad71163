#!/bin/bash
# Runs the function of a hook that fits each of its binding contexts.

# hook::run "$@": with --config it calls __config__ and ends the hook. Otherwise it calls, for each binding context in
# order, the first function that exists of those that hook::_get_possible_handler_names prints, or else __main__.
function hook::run() {
  if [[ ${1:-} == --config ]]; then
    __config__
    exit 0
  fi
  local count index names
  count=$(context::global::jq 'length')
  for ((index = 0; index < count; index++)); do
    export BINDING_CONTEXT_CURRENT_INDEX=$index
    BINDING_CONTEXT_CURRENT_BINDING=$(context::jq -r '.binding // "unknown"')
    export BINDING_CONTEXT_CURRENT_BINDING
    names=$(hook::_get_possible_handler_names)
    hook::_run_first_available_handler "$names __main__"
  done
}

# Names of the functions for the current binding context, one a line, the most specific first. Libraries that replace
# hook::run call this and the next function.
function hook::_get_possible_handler_names() {
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
      else empty end'
}

# Calls the first function that exists of these names, which white space separates, in a subshell.
function hook::_run_first_available_handler() {
  local names name
  read -r -d '' -a names <<<"$1" || true
  for name in "${names[@]}"; do
    if declare -F -- "$name" >/dev/null; then
      # A handler may change variables or exit without touching the next context. Not part of a condition: that would
      # switch errexit off inside the handler.
      ("$name")
      return
    fi
  done
  printf -v name ', %s' "${names[@]}"
  echo "ERROR: the hook has no function for this binding context, it needs one of: ${name:2}" >&2
  return 1
}
