package client

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Rows are equal by their values as float32.
func TestByContent(t *testing.T) {
	of := func(row ...float64) RecordID {
		t.Helper()
		id, err := ByContent(row)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	same := of(0, 1.5, 0.1)
	for name, row := range map[string][]float64{
		"minus zero": {math.Copysign(0, -1), 1.5, 0.1}, "subnormal": {0x1p-127, 1.5, 0.1}, "negative subnormal": {-0x1p-149, 1.5, 0.1},
		"float32": {0, 1.5, float64(float32(0.1))}, "small in float64": {1e-300, 1.5, 0.1}, "subnormal in float64": {5e-324, 1.5, 0.1},
	} {
		if of(row...) != same {
			t.Errorf("%s is another record", name)
		}
	}
	single, err := ByContent([]float32{0, 1.5, 0.1})
	if err != nil || single != same {
		t.Errorf("the row in float32 is another record: %v", err)
	}
	seen := map[RecordID]string{same: "the row"}
	for name, row := range map[string][]float64{
		"another order": {1.5, 0, 0.1}, "one bit": {0, 1.5, float64(math.Nextafter32(0.1, 1))}, "a zero more": {0, 1.5, 0.1, 0}, "a zero less": {1.5, 0.1},
		"minus": {0, -1.5, 0.1}, "the least normal": {0x1p-126, 1.5, 0.1}, "twice": {0, 3, 0.2},
	} {
		id := of(row...)
		if seen[id] != "" {
			t.Errorf("%s is the record of %s", name, seen[id])
		}
		seen[id] = name
	}
	for name, row := range map[string][]float64{"nan": {1, math.NaN()}, "infinite": {math.Inf(-1), 1}, "beyond float32": {1e39}} {
		if _, err := ByContent(row); !errors.Is(err, points.ErrNonFinite) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := ByName("a", row); !errors.Is(err, points.ErrNonFinite) {
			t.Errorf("%s by name: %v", name, err)
		}
	}
	for _, err := range []error{second(ByContent([]float32{})), second(ByContent[float64](nil)), second(ByName("", []float32{1})), second(ByName("a", []float32{}))} {
		if !errors.Is(err, ErrRecord) {
			t.Error(err)
		}
	}
}

func second(_ RecordID, err error) error { return err }

// Neither a name nor a hash of a row gets into a log by mistake.
func TestRecordIDIsNotPrinted(t *testing.T) {
	byContent := content(1.5)
	byName, err := ByName("secret name", []float32{1.5})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []RecordID{byContent, byName} {
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("asked", "id", id)
		text := fmt.Sprintf("%v %+v %#v %s %x %q %v", id, id, id, id, id, id, struct{ ID RecordID }{id}) + log.String()
		for _, wrong := range []string{"secret name", fmt.Sprintf("%x", id.content[:4]), fmt.Sprint(id.content[:3])} {
			if strings.Contains(text, strings.Trim(wrong, "[]")) {
				t.Errorf("%q is in %s", wrong, text)
			}
		}
	}
}
