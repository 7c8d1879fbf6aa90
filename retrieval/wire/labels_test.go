package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

func TestLabels(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"labels":[0,-1,1],"names":["a","b"]}`:     true,
		`{"labels":[0,-1,7]}`:                       true,
		`{"labels":[0,1,1,0],"names":["a","b"]}`:    true, // rows that came later
		`{"labels":[0,1]}`:                          false,
		`{"labels":null}`:                           false,
		`{"labels":[0,-2,1]}`:                       false,
		`{"labels":[0,2,1],"names":["a","b"]}`:      false,
		`{"labels":[0,1,1],"names":["a","a"]}`:      false,
		`{"labels":[0,0,0],"names":[]}`:             false,
		`{"labels":[-1,-1,-1],"names":["\\u0007"]}`: true,
	} {
		var l Labels
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			continue
		}
		if err := l.Check(3); ok != (err == nil) || err != nil && !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := (&Labels{Labels: []int32{0}, Names: []string{"\xff"}}).Check(1); err == nil {
		t.Error("a name that is not UTF-8")
	}
	whole, err := json.Marshal(&Labels{Labels: make([]int32, 1000)})
	if err != nil || int64(len(whole)) > limits.LabelBytes(1000) || strings.Contains(string(whole), "names") {
		t.Errorf("%d bytes, %v", len(whole), err)
	}
}
