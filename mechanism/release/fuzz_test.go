package release

import (
	"bytes"
	"encoding/json"
	"testing"
)

func seeds(f *testing.F, form func(*Release) []byte) {
	one := sample()
	one.Rows, one.Columns, one.Grid = 1, 1, []int64{-3}
	one.Labels = Labels{Mode: ModeDropped}
	one.Sensitivity.Private, one.Sensitivity.PrivateRows = 0, nil
	for _, r := range []*Release{sample(), finish(one, 30)} {
		b := form(r)
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add([]byte{})
}

// same checks that a decoded release passes Check, gives the same bytes again
// and survives the other form.
func same(t *testing.T, r *Release) []byte {
	t.Helper()
	binary := mustBinary(t, r)
	var a, b Release
	if err := a.UnmarshalBinary(binary); err != nil {
		t.Fatal(err)
	}
	if err := b.UnmarshalJSON(mustJSON(t, &a)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mustBinary(t, &b), binary) {
		t.Fatal("other bytes after both forms")
	}
	return binary
}

func FuzzBinary(f *testing.F) {
	seeds(f, func(r *Release) []byte { return mustBinary(f, r) })
	f.Fuzz(func(t *testing.T, data []byte) {
		// Unchanged, and with the right checksum in place of its end, which
		// gets further.
		for _, b := range [][]byte{data, sealed(data[:max(0, len(data)-32)])} {
			for name, decode := range binaryDecoders {
				r, err := decode(b)
				if err != nil {
					if !known(err) {
						t.Fatalf("%s: %v", name, err)
					}
				} else if b[0] == magic[0] && !bytes.Equal(same(t, r), b) {
					t.Fatalf("%s: other bytes", name)
				}
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	seeds(f, func(r *Release) []byte { return mustJSON(f, r) })
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, decode := range jsonDecoders {
			r, err := decode(text)
			switch {
			case err == nil:
				same(t, r)
			case !known(err):
				t.Fatalf("%s: %v", name, err)
			case is(err, errChecksum) && name == "UnmarshalJSON":
				// An edited release that passes Check: with the right checksum
				// it is valid.
				var d document
				p := &parser{json.NewDecoder(bytes.NewReader(text)), d.fields(), make(map[string]bool)}
				p.UseNumber()
				if err := p.object(""); err != nil {
					t.Fatal(err)
				}
				same(t, &d.release)
			}
		}
	})
}
