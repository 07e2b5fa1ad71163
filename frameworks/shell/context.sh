#!/bin/bash
# Reads binding contexts. A path is keys separated by dots: `snapshots.my-binding.0.object`; a key that holds dots is written in
# quotes: `object.metadata.labels."app.kubernetes.io/name"`. No path means the whole context.

# jq with these arguments over the list of all binding contexts.
function context::global::jq() {
  jq "$@" "$BINDING_CONTEXT_PATH"
}

# jq with these arguments over the current binding context.
function context::jq() {
  context::global::jq ".[$BINDING_CONTEXT_CURRENT_INDEX]" | jq "$@"
}

# context::get [--required] PATH: the value, strings without quotes, `null` when there is none. With --required a
# missing key is an error.
function context::get() {
  local is_required=no
  while [[ ${1:-} == --required ]]; do
    is_required=yes
    shift
  done
  if [[ $is_required == yes ]] && ! context::has "${1:-}"; then
    echo "Error: the binding context has no '${1:-}', which the hook requires" >&2
    return 1
  fi
  local filter
  filter=$(context::_convert_user_path_to_jq_path "${1:-}")
  context::jq -r "$filter"
}

# Whether the key is there, whatever its value.
function context::has() {
  local parent key
  parent=$(context::_convert_user_path_to_jq_path "$(context::_dirname "${1:-}")")
  key=$(context::_basename "${1:-}")
  if [[ $key =~ ^[0-9]+$ ]]; then
    context::jq -e "$parent | has($key)" >/dev/null
  else
    context::jq -e --arg key "$key" "$parent | has(\$key)" >/dev/null
  fi
}

function context::is_true() {
  context::_is true "${1:-}"
}

function context::is_false() {
  context::_is false "${1:-}"
}

function context::is_null() {
  context::_is null "${1:-}"
}

function context::_is() {
  local filter
  filter=$(context::_convert_user_path_to_jq_path "$2")
  context::jq -e "$filter == $1" >/dev/null
}

# The path as a jq filter: numbers are list items, keys with a dash get quotes, others are jq's own words. This and the two
# functions after it have no place in hooks, but libraries that build on this one call them.
function context::_convert_user_path_to_jq_path() {
  context::_split "${1:-}"
  local filter='' key
  for key in "${CONTEXT_PATH_KEYS[@]}"; do
    if [[ $key =~ ^[0-9]+$ ]]; then
      if [[ -z $filter ]]; then filter=.; fi
      filter+="[$key]"
    elif [[ $key == *-* && $key != *\"* ]]; then
      filter+=".\"$key\""
    else
      filter+=".$key"
    fi
  done
  echo "${filter:-.}"
}

# The path without its last key.
function context::_dirname() {
  context::_split "${1:-}"
  unset 'CONTEXT_PATH_KEYS[-1]'
  local IFS=.
  echo "${CONTEXT_PATH_KEYS[*]}"
}

# The last key of the path, without quotes.
function context::_basename() {
  context::_split "${1:-}"
  local key=${CONTEXT_PATH_KEYS[-1]#\"}
  echo "${key%\"}"
}

# Puts the keys of a path into CONTEXT_PATH_KEYS, quoted keys with double quotes around them.
function context::_split() {
  local path=${1//\'/\"} key='' char is_quoted=no index
  CONTEXT_PATH_KEYS=()
  for ((index = 0; index < ${#path}; index++)); do
    char=${path:index:1}
    if [[ $char == '"' ]]; then
      if [[ $is_quoted == yes ]]; then is_quoted=no; else is_quoted=yes; fi
    fi
    if [[ $char == . && $is_quoted == no ]]; then
      CONTEXT_PATH_KEYS+=("$key")
      key=''
    else
      key+=$char
    fi
  done
  CONTEXT_PATH_KEYS+=("$key")
}
