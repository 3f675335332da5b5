//go:build cgo && !cairn_http && cairn_static

package cairn

// In a file of its own, since Go's cache knows a package by its files and not by what pkg-config says: otherwise
// a program would be linked the way that the one before it was.

// #cgo pkg-config: cairn-static
import "C"
