//go:build !linux && gc && !noasm && !purego

package simd

// tilesPermitted asks nobody: how systems other than Linux permit the use of tiles is not
// known here.
func tilesPermitted() bool { return false }
