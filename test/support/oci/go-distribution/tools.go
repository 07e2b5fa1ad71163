//go:build tools

// Package tools pins the registry with authentication that tests push to.
package tools

import _ "github.com/distribution/distribution/v3/cmd/registry"
