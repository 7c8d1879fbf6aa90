package supervised_test

import (
	"encoding/json"
	"testing"
)

// The JSON form says what the model is and has no rows.
func TestModelJSON(t *testing.T) {
	m, _ := saved(t, "classic", 80, 6)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got["rows"] != 80.0 || got["input"] != 6.0 || got["output"] != float64(m.X.Cols) || got["recipe"] != m.Recipe.String() {
		t.Errorf("%s", text)
	}
	for _, key := range []string{"graph", "trace", "seconds"} {
		if got[key] == nil {
			t.Errorf("no %s in %s", key, text)
		}
	}
	if len(got) > 8 || got["x"] != nil || got["map"] != nil {
		t.Errorf("%d keys: %s", len(got), text)
	}
}
