package scheme

import "testing"

// TestRecordFailure holds the statement of the documentation: no record is ever wrong, at the
// largest sizes that a manifest may have.
func TestRecordFailure(t *testing.T) {
	for _, c := range []struct {
		columns, length int
		most            float64
	}{
		{MaxRecordColumns, MaxRecord, 1e-39},
		{500_000, MaxRecord, 1e-41},
		{1 << 18, MaxRecord, 1e-82},
		{1, 1, 1e-300},
	} {
		if got := RecordFailure(c.columns, c.length); got >= c.most {
			t.Errorf("%d columns: %g, want below %g", c.columns, got, c.most)
		}
	}
	// The bound says something: with 16 times as many columns it would not hold.
	if got := RecordFailure(16*MaxRecordColumns, MaxRecord); got < 1e-3 {
		t.Errorf("16 times as many columns: %g", got)
	}
}
