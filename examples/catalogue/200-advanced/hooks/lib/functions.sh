# Not executable, so it is no hook; hooks source it.

common::run_hook() {
  if [[ ${1:-} == --config ]]; then
    hook::config
  else
    hook::trigger
  fi
}
