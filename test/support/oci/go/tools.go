//go:build tools

// Package tools pins crane, an independent client of registries.
package tools

import _ "github.com/google/go-containerregistry/cmd/crane"
