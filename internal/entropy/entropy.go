// Package entropy is where secret randomness comes from.
package entropy

import (
	"crypto/rand"
	"errors"
	"reflect"
)

// System reads from the operating system, by the function rand.Read. That function
// reads from the variable rand.Reader, which any package of the program can assign, so
// System refuses when something other than the standard library's own reader is there.
type System struct{}

var errReplaced = errors.New("crypto/rand.Reader is not the one of the standard library")

// Read fills all of p or returns an error. Where the system gives no random bytes
// rand.Read ends the program.
func (System) Read(p []byte) (int, error) {
	if !own(rand.Reader) {
		return 0, errReplaced
	}
	return rand.Read(p)
}

// own tells whether a type of the standard library's own source is behind a reader. Its
// packages have no exported type that reads, so nobody else has a value of one.
func own(reader any) bool {
	t := reflect.TypeOf(reader)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && (t.PkgPath() == "crypto/internal/rand" || t.PkgPath() == "crypto/rand")
}
