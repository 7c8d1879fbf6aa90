//go:build !unix

package files

// MakePrivate does nothing where the folder decides who can read a file.
func MakePrivate() (restore func()) { return func() {} }
