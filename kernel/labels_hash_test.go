package kernel

import "testing"

// Labels that move an iterate alike have one hash; others have another one.
func TestLabelsHash(t *testing.T) {
	hash := func(table Table, y ...int32) [32]byte {
		t.Helper()
		l, err := NewLabels(y, table, true)
		if err != nil {
			t.Fatal(err)
		}
		return l.Hash()
	}
	want := hash(EqualTable(), 0, 1, -1, 1)
	if hash(EqualTable(), 0, 1, -1, 1) != want {
		t.Error("the same labels have two hashes")
	}
	if hash(TableFunc("mine", func(a, b int32) float64 { return float64(a + b) }), 1, 2) == hash(TableFunc("mine", func(a, b int32) float64 { return float64(a * b) }), 1, 2) {
		t.Error("two tables of one name have one hash")
	}
	for name, other := range map[string][32]byte{
		"a label":      hash(EqualTable(), 0, 0, -1, 1),
		"no label":     hash(EqualTable(), 0, 1, 1, 1),
		"values":       hash(EqualTable(), 0, 2, -1, 2),
		"order":        hash(EqualTable(), 1, 0, -1, 1),
		"a row more":   hash(EqualTable(), 0, 1, -1, 1, 1),
		"another sign": hash(DifferentTable(), 0, 1, -1, 1),
		"all equal":    hash(TableFunc("equal", func(a, b int32) float64 { return 1 }), 0, 1, -1, 1),
	} {
		if other == want {
			t.Errorf("%s: the same hash", name)
		}
	}
}
