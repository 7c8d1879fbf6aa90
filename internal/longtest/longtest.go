// Package longtest keeps go test short. The environment variable PM_TESTS says how much a test
// does: without it enough to find most mistakes, with PM_TESTS=long what CI asks of every
// change, and with PM_TESTS=all what takes an hour.
package longtest

import (
	"os"
	"testing"
)

// Wanted reports whether long tests run.
func Wanted() bool { return value() != "" }

// All reports whether everything runs.
func All() bool { return value() == "all" }

// Only skips a test that has no short form, unless long tests run.
func Only(t testing.TB) {
	t.Helper()
	if !Wanted() {
		t.Skip("long; runs with PM_TESTS=long")
	}
}

// Pick returns the value for what is wanted.
func Pick[T any](short, long, all T) T {
	switch {
	case All():
		return all
	case Wanted():
		return long
	}
	return short
}

func value() string {
	v := os.Getenv("PM_TESTS")
	switch v {
	case "", "long", "all":
		return v
	}
	panic("PM_TESTS=" + v + ", want long or all")
}
