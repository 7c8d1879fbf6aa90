package report

import (
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// A report takes the cases of a part that is newer, and the others from the whole.
func TestReportOfAPart(t *testing.T) {
	folder := t.TempDir()
	m := recordedMachine("avx2", "")
	recordSuite(t, folder, m, "2026-01-01T00:00:00Z", false, 0.5, "k=1", "k=2")
	below, err := record.Folder(folder, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ pattern, name, time string }{{"k=2", "k=2", "2026-01-02T00:00:00Z"}, {"k=1", "k=1", "2025-01-01T00:00:00Z"}} {
		part := []*record.Record{{Suite: "spmm", Case: c.name, Seconds: 0.25, Time: c.time, Level: m.Level, Machine: m}}
		if _, err := record.Write(t.Context(), below, "spmm"+record.PartName(c.pattern), false, part); err != nil {
			t.Fatal(err)
		}
	}
	r, err := readReport(folder)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	records := r.newest().records
	for _, x := range records {
		got[x.Case] = x.Seconds
	}
	if len(records) != 2 || got["k=1"] != 0.5 || got["k=2"] != 0.25 || !slices.ContainsFunc(r.records, func(x *record.Record) bool { return x.Time[:4] == "2025" }) {
		t.Errorf("%v", got)
	}
}
