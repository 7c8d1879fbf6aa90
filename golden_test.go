//go:build amd64 && !amd64.v3 && !netlib

// Other processors, and this one from level v3 on, fuse products into sums or have
// another exponential, and a system BLAS sums in another order: other bits, equally good.

package privatemail_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	privatemail "github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// The fields of a release, except the noise, have fixed bits: bound, error of the
// step, noise multiplier, settings.
func TestGoldenBits(t *testing.T) {
	h := sha256.New()
	e, err := privatemail.New()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x := blas64.General{Rows: 40, Cols: 5, Stride: 5, Data: make([]float64, 200)}
	for i := range x.Data {
		x.Data[i] = float64((i*7919)%101) - 50
	}
	y := make([]int32, x.Rows)
	for i := range y {
		y[i] = int32(i % 4)
	}
	for _, operator := range []string{"dense", "poly", "background"} {
		for _, relation := range []sensitivity.Relation{sensitivity.ReplaceOne, sensitivity.Null, sensitivity.FeaturesReplace} {
			out, err := e.Privatize64(t.Context(), x, y, &privatemail.PrivateSettings{
				Epsilon: 1, Delta: 1e-5, Relation: relation, LabelMode: release.ModeDropped, Ledger: mechanism.NoLedger,
				Unit: mechanism.Unit{Kind: release.UnitRecord, Name: "x"}, Bandwidth: kernel.Sigma(3), Alpha: 0.7, Classes: 4,
				SigmaQ: 1, NormalizeRows: true, Operator: operator,
			})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(h, out.Privacy, out.Sensitivity, out.Step, out.Multiple, out.Query)
		}
	}
	const want = "e730c5118a824003c5919dd433daba3b"
	if got := fmt.Sprintf("%x", h.Sum(nil)[:16]); got != want {
		t.Errorf("bits %s, want %s: if that is intended, say so in CHANGELOG.md", got, want)
	}
}
