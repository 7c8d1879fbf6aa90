package report

import (
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// A report has the table of suite levels and the choices of its machine; what was recorded
// at another choice stays apart.
func TestReportOfLevels(t *testing.T) {
	m := &record.Machine{CPU: "Made-up CPU", Level: "avx512", Choices: "gather=off", ChoicesFrom: "measured"}
	r := new(report)
	for _, loop := range []string{"Finite/n=1", "Dots/d=2", "Dots/d=2"} {
		choice := &record.Choice{Pick: "avx512,gather=off", Best: "avx2", Ratio: 1.15, Seconds: map[string]float64{"avx512,gather=off": 3e-6, "avx2": 2e-6}}
		r.records = append(r.records, &record.Record{Suite: "levels", Case: "loop=" + loop, NNZ: 100, Seconds: 1e-6, Level: "avx512", Machine: m, Settings: choice})
	}
	other := *r.records[0]
	asked := *other.Machine
	asked.Choices, asked.ChoicesFrom = "gather=on", "PM_SIMD"
	other.Machine = &asked
	r.records = append(r.records, &other)
	sections, err := r.sections()
	if err != nil {
		t.Fatal(err)
	}
	limits := sections[0].rows[1][1]
	if !strings.Contains(limits, "avx512,gather=off (measured), avx512,gather=on (PM_SIMD)") {
		t.Errorf("%q", limits)
	}
	levels := sections[1]
	if levels.title != "Suite levels" || len(levels.rows) != 3 || levels.head[0] != "loop" {
		t.Errorf("%+v", levels)
	}
	if row := r.headRow("x"); row[2] != "avx512,gather=off (measured), avx512,gather=on (PM_SIMD)" {
		t.Errorf("%q", row)
	}
}
