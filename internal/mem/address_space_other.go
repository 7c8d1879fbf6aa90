//go:build !linux

package mem

// addressSpaceLeft knows no limit here.
func addressSpaceLeft() int64 { return unlimited }

// Unmapped knows no limit either.
func Unmapped() int64 { return unlimited }
