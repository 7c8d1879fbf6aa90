//go:build cgo

package main

import (
	"testing"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// A map is prepared once, and again only for engines of another level, which have other bits.
func TestModelIsMadeReadyOnce(t *testing.T) {
	x, y := some(200)
	e := testEngine(t)
	recipe := supervised.Classic()
	fitted, err := supervised.Fit(t.Context(), e, x, y, &supervised.Settings{Recipe: &recipe, Unmeasured: true})
	if err != nil {
		t.Fatal(err)
	}
	m := &model{Model: fitted}
	first, err := m.placer(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := m.placer(t.Context(), e); err != nil || again != first {
		t.Errorf("the second call makes another one: %v", err)
	}
	plain, err := privatemail.New(privatemail.WithLevel(simd.Generic))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if p, err := m.placer(t.Context(), plain); err != nil || p.Level() != simd.Generic {
		t.Errorf("another level: %v", err)
	}
}
