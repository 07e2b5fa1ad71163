# Shared by the hooks of this directory; needs kubectl and jq.

common::run_hook() {
  if [[ ${1:-} == --config ]]; then
    hook::config
  else
    set -Eeuo pipefail
    hook::trigger
  fi
}

# Whether the hook was started for the objects that exist already.
context::is_synchronization() {
  jq -e '.[0].type == "Synchronization"' "$BINDING_CONTEXT_PATH" >/dev/null
}

# Names of the objects of all binding contexts.
context::object_names() {
  jq -r '.[].object.metadata.name' "$BINDING_CONTEXT_PATH"
}

# Names of the namespaces that get copies.
copies::namespaces() {
  kubectl get namespaces -o json |
    jq -r '.items[] | select(.status.phase == "Active" and .metadata.name != "default").metadata.name'
}

# Names of the Secrets that are copied.
copies::sources() {
  kubectl -n default get secrets -l secret-copier=yes -o json | jq -r '.items[].metadata.name'
}

# copies::put SECRET NAMESPACE: makes or replaces the copy.
copies::put() {
  local copy
  copy=$(kubectl -n default get secret "$1" -o json |
    jq --arg namespace "$2" '.metadata |= {name, labels, namespace: $namespace}')
  if kubectl -n "$2" get secret "$1" >/dev/null 2>&1; then
    kubectl replace --force -f - <<<"$copy" >/dev/null
  else
    kubectl create -f - <<<"$copy" >/dev/null
  fi
}
