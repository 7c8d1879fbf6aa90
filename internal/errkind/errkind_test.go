package errkind

import (
	"errors"
	"fmt"
	"testing"
)

func TestOf(t *testing.T) {
	file := errors.New("file not usable")
	tokens, other := Of(file, "tokens not usable"), Of(file, "certificates not usable")
	err := fmt.Errorf("service: %w: none", tokens)
	if !errors.Is(err, file) || !errors.Is(err, tokens) || errors.Is(err, other) || errors.Is(file, tokens) {
		t.Error("matches the wrong errors")
	}
	if got, want := err.Error(), "service: tokens not usable: none"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
