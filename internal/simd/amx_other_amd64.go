//go:build !linux && gc && !noasm && !purego

package simd

// tilesPermitted returns false: this package only knows how to ask Linux.
func tilesPermitted() bool { return false }
