package record

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func TestCommandLine(t *testing.T) {
	t.Setenv("PM_SIMD", "avx2")
	t.Setenv("PM_FEATURES", "")
	e := &cli.Env{Program: "pmbench", Args: []string{"run", "-suite", "spmm", "-case", "k=[18]/|it's", "-out", "", "--record=a/b", "out"}}
	if got, want := CommandLine(e), `PM_SIMD=avx2 pmbench run -suite spmm -case 'k=[18]/|it'\''s' -out FILE -record=FOLDER out`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for word, want := range map[string]string{"a b": "'a b'", "a\nb": `"a\nb"`, "100%": "100%", "~": "'~'"} {
		if got := shellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
