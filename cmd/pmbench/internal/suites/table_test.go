package suites

import (
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// The ratio to a plain file server, and to copies of a file, is that of the
// same run; a case whose other side was not measured has none.
func TestRatiosBesideOthers(t *testing.T) {
	at := func(suite, name string, seconds float64) record.Summary {
		return record.Summary{Record: &record.Record{Suite: suite, Case: name, Seconds: seconds, Bytes: 4e6}}
	}
	all := []record.Summary{
		at("retrieval", "server=service/form=int8/clients=1", 0.002), at("retrieval", "server=files/form=int8/clients=1", 0.001),
		at("retrieval", "server=service/form=int8/clients=16", 0.002),
		at("apply", "op=copy/synced=yes/n=1", 2), at("apply", "op=copy/synced=no/n=1", 1), at("apply", "op=apply/recipe=raw/n=1", 3),
		at("apply", "op=apply/recipe=raw/n=2", 3),
	}
	var out strings.Builder
	if err := writeServiceRatios(&out, all); err != nil {
		t.Fatal(err)
	}
	if err := writeCopyRatios(&out, all); err != nil {
		t.Fatal(err)
	}
	want := "form=int8/clients=1: 2000 MB/s, 0.50 of a plain file server\nraw: 1.50 times a copy that is synced, 3.00 times one that is not\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestStepRatios(t *testing.T) {
	all := record.Summarise([]*record.Record{
		{Suite: "step", Case: "op=product/k=2", Seconds: 2}, {Suite: "step", Case: "op=step/k=2", Seconds: 3},
		{Suite: "scale", Case: "op=step/k=2", Seconds: 9}, {Suite: "step", Case: "op=step/k=8", Seconds: 1},
	})
	got := StepRatios(all)
	if len(got) != 1 || got[0] != (StepRatio{"k=2", 1.5}) {
		t.Errorf("%v", got)
	}
}
