//go:build cgo

// Command capi is the library of pm.h, for C, C++ and other languages that call C. It is
// linked with -buildmode=c-shared or c-archive; go run ./capi/build does that. Functions of
// pm.h are in the files shim*.c. They refuse forked processes, and call the functions
// pmgo_* of the Go files.
package main

func main() {} // never called in a library
