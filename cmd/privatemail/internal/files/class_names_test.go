package files

import "testing"

func TestClassNamesFile(t *testing.T) {
	for out, want := range map[string]string{
		"e.npy": "e.labels.csv", "a/e.fvecs": "a/e.labels.csv", "a.b/e.idx.gz": "a.b/e.labels.csv", ".npy": ".npy.labels.csv", "/dev/stdout": "",
	} {
		if got := classNamesFile(out); got != want {
			t.Errorf("%s: %s", out, got)
		}
	}
}
