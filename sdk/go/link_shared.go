//go:build cgo && !cairn_http && !cairn_static

package cairn

// #cgo pkg-config: cairn
import "C"
