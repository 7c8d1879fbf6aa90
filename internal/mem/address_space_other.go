//go:build !linux

package mem

// addressSpaceLeft knows of no limit here.
func addressSpaceLeft() int64 { return unlimited }

// Unmapped knows of no limit either.
func Unmapped() int64 { return unlimited }
