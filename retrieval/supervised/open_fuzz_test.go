package supervised

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/sections"
)

// Whatever the sections of a model hold, it is opened and fits together, or is refused.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"rows":1,"columns":2,"recipe":"raw"}`), []byte(`{"dim":2,"columns":2,"root":true}`), make([]byte, 16), make([]byte, 32), make([]byte, 8), make([]byte, 4), []byte(`["a"]`))
	f.Add([]byte(`{"rows":1,"columns":1,"recipe":"classic","graph":{"gamma":"NaN"}}`), []byte(`{"dim":2,"columns":1}`), []byte{}, make([]byte, 16), make([]byte, 4), []byte{255, 255, 255, 255}, []byte(`null`))
	f.Fuzz(func(t *testing.T, facts, mapFacts, mean, matrix, x, labels, names []byte) {
		var data bytes.Buffer
		err := sections.WriteTo(&data, sections.Model, fileVersion, func(w *sections.Writer) error {
			return errors.Join(
				w.Bytes(factsSection, facts), w.Bytes(mapSection, mapFacts), w.Bytes(meanSection, mean),
				w.Bytes(matrixSection, matrix), w.Bytes(xSection, x), w.Bytes(certificateSection, x),
				w.Bytes(labelsSection, labels), w.Bytes(namesSection, names),
			)
		})
		if err != nil {
			t.Fatal(err)
		}
		file, err := sections.Parse("file", data.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		m, err := readModel(file)
		if err != nil {
			if !errors.Is(openError(err), ErrFile) {
				t.Fatalf("no known kind of error: %v", err)
			}
			return
		}
		if err := m.checkSizes(); err != nil {
			t.Fatalf("what was opened does not fit together: %v", err)
		}
	})
}
