package main

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/digits"
)

// docs/privacy.md says that the embedding of its private example is of no use. The share of rows
// whose nearest row has their digit, among ten digits: of raw features, of the example,
// also at epsilon 100, and of its first step without noise. By chance it is 0.1, with a standard deviation of
// 0.007 in 1797 rows, so that 0.2 is out of reach.
func TestUseOfTheExample(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	succeed(t, "generate", "-kind", "digits", "-out", at("digits")+"/")
	x, y := digits.Load()
	if share := sameNearest(x.Data, x.Cols, y); share < 0.95 {
		t.Errorf("raw features: %.3f", share)
	} else {
		t.Logf("raw features: %.3f", share)
	}
	stdout, _ := succeed(t, "sensitivity", "-n", "1797", "-sigma", "1", "-alpha", "0.5", "-table", "equal", "-classes", "10", "-epsilon", "1", "-delta", "1e-6", "-json")
	if ratio := object(t, stdout)["noise_to_signal"].(float64); math.Round(ratio) != 66 {
		t.Errorf("noise is %.4g times the signal", ratio)
	}
	for name, epsilon := range map[string]string{"example": "1", "epsilon 100": "100"} {
		succeed(t, "privatize", at("digits"), "-normalize-rows", "-sigma", "1", "-alpha", "0.5", "-classes", "10",
			"-label-mode", "dropped", "-epsilon", epsilon, "-delta", "1e-6", "-ledger", "none", "-anyway", "-out", at(name), "-quiet")
		succeed(t, "continue", at(name), "-mean-neighbours", "20", "-out", at(name+".npy"), "-quiet")
	}
	succeed(t, "embed", at("digits"), "-normalize-rows", "-sigma", "1", "-alpha", "0.5", "-steps", "1", "-out", at("without noise.npy"), "-quiet")
	for _, name := range []string{"example", "epsilon 100", "without noise"} {
		m, err := formats.ReadMatrix(at(name + ".npy"))
		if err != nil {
			t.Fatal(err)
		}
		share := sameNearest(m.Data, m.Cols, y)
		m.Close()
		if t.Logf("%s: %.3f", name, share); share > 0.2 {
			t.Errorf("%s: docs/privacy.md says that it is of no use", name)
		}
	}
}

// sameNearest is the share of rows whose nearest other row has the same label.
func sameNearest(data []float32, columns int, y []int32) float64 {
	same := 0
	for i := range y {
		row := data[i*columns:][:columns]
		best, least := -1, math.Inf(1)
		for j := range y {
			distance := 0.0
			for c, v := range data[j*columns:][:columns] {
				d := float64(v) - float64(row[c])
				distance += d * d
			}
			if j != i && distance < least {
				best, least = j, distance
			}
		}
		if y[best] == y[i] {
			same++
		}
	}
	return float64(same) / float64(len(y))
}
