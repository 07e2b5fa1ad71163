#!/bin/bash
# Library for hooks in bash: `source "${FRAMEWORK_DIR:-}/shell_lib.sh"`, then `hook::run "$@"`. Needs bash 4.4 and jq.
# It makes the hook strict: any failing command, unset variable or glob without a match ends it, with a trace on stderr.

set -Eeuo pipefail
shopt -s inherit_errexit failglob

# Prints the calls that led to a failed command, outermost first, with the source line of each.
backtrace() {
  local status=$?
  local level
  echo "A command failed with status ${status}, called from:" >&2
  for ((level = ${#FUNCNAME[@]} - 1; level > 0; level--)); do
    local file=${BASH_SOURCE[level]} line=${BASH_LINENO[level - 1]}
    printf '  %s:%d in %s\n' "$file" "$line" "${FUNCNAME[level]}" >&2
    if [[ -f $file ]]; then sed -n "${line}s/^[[:space:]]*/    /p" "$file" >&2; fi
  done
}

trap backtrace ERR

shell_lib::source_frameworks() {
  local root file files
  root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
  files=$(find "${root%/}/frameworks/shell/" -type f -iname '*.sh' | sort)
  while IFS= read -r -u 3 file; do
    # shellcheck source=/dev/null
    source "$file"
  done 3<<<"$files"
}

shell_lib::source_frameworks
