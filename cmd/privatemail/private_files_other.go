//go:build !unix

package main

// privateFiles does nothing where the folder decides who can read a file.
func privateFiles() (restore func()) { return func() {} }
