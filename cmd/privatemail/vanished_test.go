package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Rows that float32 cannot hold are refused for what they are; zeros are not.
func TestRowsTooSmallForFloat32(t *testing.T) {
	dir := t.TempDir()
	const n = 40
	var message strings.Builder
	small, labels := make([]float64, 2*n), make([]string, n)
	for i := range small {
		small[i] = float64(1+i*i%17) * 1e-200
	}
	for i := range labels {
		labels[i] = fmt.Sprint(i % 2)
		fmt.Fprintf(&message, "%g,%g\n", small[2*i], small[2*i+1])
	}
	npy, csv, zeros, y := filepath.Join(dir, "x.npy"), filepath.Join(dir, "x.csv"), filepath.Join(dir, "zeros.npy"), filepath.Join(dir, "y.txt")
	for _, err := range []error{
		formats.WriteMatrix(t.Context(), npy, n, 2, small),
		formats.WriteMatrix(t.Context(), zeros, n, 2, make([]float64, 2*n)),
		os.WriteFile(csv, []byte(message.String()), 0o600),
		os.WriteFile(y, []byte(strings.Join(labels, "\n")+"\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "e.npy")
	for _, args := range []string{
		"fit " + npy + " -labels " + y + " -out " + out, "embed " + npy + " -out " + out, "embed " + csv + " -header no -out " + out, "embed -plan " + npy + " -sigma 1",
	} {
		refuse(t, cli.Failed, strings.Fields(args), "too small for float32")
	}
	succeed(t, "embed", zeros, "-form", "paper", "-sigma", "1", "-quiet", "-out", out)
}
