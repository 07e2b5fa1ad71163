//go:build tools

// Package tools pins oras, an independent client of registries.
package tools

import _ "oras.land/oras/cmd/oras"
