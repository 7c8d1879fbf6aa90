package evaluate

import (
	"encoding/json"
	"strings"
	"testing"
)

// Bytes are means over seeds, and come back from a journal; a mode that sends none writes
// nothing about them.
func TestVolume(t *testing.T) {
	record := func(seed uint64, v Volume) Record {
		return Record{Cell: Cell{Data: "d", Mode: "m", Seed: seed}, Asked: 10, Gallery: 50, Volume: v}
	}
	one := Volume{Float32: Traffic{Query: 10, Once: 20}, Int8: Traffic{Query: 3, Once: 4}, AllRows: 100, Sealed: Exchange{Up: 1, Down: 2, Once: 3, Seconds: 4}}
	two := Volume{Float32: Traffic{Query: 14, Once: 40}, Int8: Traffic{Query: 5, Once: 8}, AllRows: 300, Sealed: Exchange{Up: 3, Down: 6, Once: 9, Seconds: 12}}
	want := Volume{Float32: Traffic{Query: 12, Once: 30}, Int8: Traffic{Query: 4, Once: 6}, AllRows: 200, Sealed: Exchange{Up: 2, Down: 4, Once: 6, Seconds: 8}}
	if s := Summarize([]Record{record(1, one), record(2, two)}); len(s) != 1 || s[0].Volume != want {
		t.Errorf("%+v", s)
	}
	// The mean of equal seeds is that of one of them, to the last bit.
	for n := range 50 {
		var records []Record
		for seed := range n + 1 {
			r := record(uint64(seed), one)
			r.Base, r.Download = 50, 7
			records = append(records, r)
		}
		if s := Summarize(records); s[0].Base != 1 || s[0].Volume != one {
			t.Errorf("%d seeds: %g, %+v", n+1, s[0].Base, s[0].Volume)
		}
	}
	line, err := json.Marshal(record(1, one))
	var back Record
	if err != nil || json.Unmarshal(line, &back) != nil || back.Volume != one {
		t.Errorf("%s: %v", line, err)
	}
	if line, err = json.Marshal(record(1, Volume{})); err != nil || strings.Contains(string(line), "bytes") {
		t.Errorf("%s: %v", line, err)
	}
}
