package peers

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A match that ends in the middle keeps the rounds of those who have played one.
func TestFinishedRoundsAreKept(t *testing.T) {
	var stdout, stderr bytes.Buffer
	c := &contest{lab: peersLab(t), e: &cli.Env{Program: "pmbench", Verb: "peers", Stdout: &stdout, Stderr: &stderr}, folder: t.TempDir(), rounds: 5}
	result := func(name string) *rival {
		return &rival{peer: peer{name: name, pairing: serial}, opponent: &fake{0.01, []float32{1}, 0}}
	}
	rivals := []*rival{result("first"), result("second"), {peer: peer{name: "absent", pairing: serial}, missing: "gone"}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls, end := 0, 1<<30
	m := &match{
		ratio: record.Ratio{Suite: "spmm", Case: "k=1", Workers: 1},
		ours: func(ctx context.Context) error {
			if calls++; calls > end {
				cancel()
			}
			return ctx.Err()
		},
		differ: func(string) (float64, error) { return 0, nil },
	}
	if err := c.play(ctx, m, rivals, measure.AllWork); err != nil || len(c.ratios) != 3 || c.ratios[0].WantedRounds != 0 {
		t.Fatalf("%+v, %v", c.ratios, err)
	}
	calls, end = 0, 1+5 // to warm up, and five turns of the rivals
	err := c.play(ctx, m, rivals, measure.AllWork)
	if !errors.Is(err, context.Canceled) || len(c.ratios) != 5 {
		t.Fatalf("%+v, %v", c.ratios, err)
	}
	for i, rounds := range []int{3, 2} {
		if r := c.ratios[3+i]; r.Rounds != rounds || r.WantedRounds != 5 || r.Ratio == nil {
			t.Errorf("%+v", r)
		}
	}
	if err := c.showEnded(); err != nil {
		t.Fatal(err)
	}
	if text := stdout.String(); !strings.Contains(text, "ended after 3 of 5 rounds") || !strings.Contains(text, "ended after 2 of 5 rounds") || strings.Count(text, "first") != 2 {
		t.Errorf("%s", text)
	}
	if !strings.Contains(stderr.String(), "ended early; ratios of finished rounds: 5") {
		t.Errorf("%s", stderr.String())
	}
	// With no round finished there is nothing to show, and that is said.
	c.ratios, calls, end = nil, 0, 0
	stdout.Reset()
	if err := c.play(ctx, m, rivals, measure.AllWork); err == nil || len(c.ratios) != 0 {
		t.Errorf("%+v, %v", c.ratios, err)
	}
	if err := c.showEnded(); err != nil || stdout.String() != "" || !strings.Contains(stderr.String(), "there is no ratio") {
		t.Errorf("%v %s%s", err, stdout.String(), stderr.String())
	}
}
