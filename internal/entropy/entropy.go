// Package entropy is the source of secret randomness.
package entropy

import (
	"crypto/rand"
	"errors"
	"reflect"
)

// System reads from the operating system, by the function rand.Read. That function
// reads from the variable rand.Reader, which any package of the program can assign, so
// System returns an error if that is not the standard library's own reader.
type System struct{}

var errReplaced = errors.New("crypto/rand.Reader is not the one of the standard library")

// Read fills all of p or returns an error. If the system gives no random bytes,
// rand.Read ends the program.
func (System) Read(p []byte) (int, error) {
	if !own(rand.Reader) {
		return 0, errReplaced
	}
	return rand.Read(p)
}

// own reports whether the type of a reader is from the standard library's source of
// randomness. Its packages export no type that reads, so other code cannot have such a
// value.
func own(reader any) bool {
	t := reflect.TypeOf(reader)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && (t.PkgPath() == "crypto/internal/rand" || t.PkgPath() == "crypto/rand")
}
