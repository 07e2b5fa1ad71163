//go:build tools

// Package tools pins the registry that tests push to.
package tools

import _ "github.com/google/go-containerregistry/cmd/registry"
