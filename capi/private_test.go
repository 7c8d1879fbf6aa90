//go:build cgo

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A C program makes the releases it asked for, paid by its ledger, and continues from them as
// Go does. Forbidden actions give a status and cost nothing.
func TestPrivateInC(t *testing.T) {
	x, y := some(120)
	folder := t.TempDir()
	printed, err := run(t, compile(t, "private.c", dynamic), written(t, x, y), folder)
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %s", len(lines), printed)
	}
	checkAssessment(t, lines[0], x)

	ledger, err := mechanism.OpenLedger(filepath.Join(folder, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	quarter := 0.25
	for _, c := range []struct {
		name, mode, relation string
		paid                 bool
		alpha                *float64
	}{
		{"dropped", release.ModeDropped, "features-replace", true, nil},
		{"randomised", release.ModeRandomised, "replace-one", true, &quarter},
		{"uncounted", release.ModePublic, "features-replace", false, &quarter},
		{"again", release.ModePublic, "features-replace", false, nil},
	} {
		r := readRelease(t, folder, c.name)
		if r.Labels.Mode != c.mode || r.Sensitivity.Relation != c.relation || r.Privacy.Epsilon != 1 || r.Privacy.Delta != 1e-6 || r.Query.Seed != 3 || r.Query.SigmaQ != 1 {
			t.Errorf("%s: %+v", c.name, r)
		}
		paid, err := ledger.Paid(r.ID)
		if err != nil || paid != c.paid || (r.Ledger != 0) != c.paid {
			t.Errorf("%s: paid %v, number %d: %v", c.name, paid, r.Ledger, err)
		}
		checkLater(t, folder, c.name, r, y, c.alpha)
	}
	spent, err := ledger.Spent(mechanism.Unit{Kind: release.UnitRecord, Name: "digits"})
	if err != nil || !(spent.Rho.Float() > 0) {
		t.Errorf("%v, %v", spent, err)
	}
	want, err := readRelease(t, folder, "dropped").Summary()
	if err != nil || lines[1] != string(want) {
		t.Errorf("%v: the program says %s, want %s", err, lines[1], want)
	}
	checkSpent(t, filepath.Join(folder, "short"), lines[2])
}

// checkAssessment compares the cost of a release with that from Go.
func checkAssessment(t *testing.T, line string, x blas32.General) {
	t.Helper()
	a, err := privatemail.Sensitivity(t.Context(), x.Rows, x.Cols, &privatemail.PrivateSettings{
		Epsilon: 1, Delta: 1e-6, Relation: sensitivity.FeaturesReplace, Bandwidth: kernel.Sigma(0.5), SigmaQ: 1, Seed: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(a)
	if err != nil || line != string(want) {
		t.Errorf("%v: %s\nwant %s", err, line, want)
	}
}

func readRelease(t *testing.T, folder, name string) *release.Release {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	r := new(release.Release)
	if err := r.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return r
}

// checkLater compares points and later steps with those that Go computes from the same release.
func checkLater(t *testing.T, folder, name string, r *release.Release, y []int32, alpha *float64) {
	t.Helper()
	compare := func(file string, data any) {
		var want bytes.Buffer
		if err := binary.Write(&want, binary.NativeEndian, data); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(folder, file)); err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s: %v; %d bytes, not those %d of Go", file, err, len(got), want.Len())
		}
	}
	points, err := post.Points(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	compare(name+"-points", points.RawMatrix().Data)

	var labels *release.PublicLabels
	if r.Labels.Mode == release.ModePublic {
		if labels, err = release.Declare(y, r.Query.Classes); err != nil {
			t.Fatal(err)
		}
	}
	into := blas32.General{Rows: r.Rows, Cols: r.Columns, Stride: r.Columns, Data: make([]float32, r.Rows*r.Columns)}
	if _, err := testEngine(t).Continue(t.Context(), r, labels, &post.Settings{MeanNeighbours: 15, Steps: 3, Alpha: alpha, Into: into}); err != nil {
		t.Fatal(err)
	}
	compare(name+"-later", into.Data)
}

// checkSpent checks that the ledger whose file was full has the spend of the release.
func checkSpent(t *testing.T, path, summary string) {
	t.Helper()
	var said struct{ ID string }
	if err := json.Unmarshal([]byte(summary), &said); err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.ReadLedger(path)
	if err != nil || len(s.Entries) != 1 || len(said.ID) != 32 {
		t.Fatalf("%v: %+v, release %s", err, s, said.ID)
	}
}
