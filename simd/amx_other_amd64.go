//go:build !linux && gc && !noasm && !purego

package simd

// tilesPermitted is for systems that are not asked: how others permit the use of
// tiles is not known here.
func tilesPermitted() bool { return false }
