package remote

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// What the cache holds is told without a word to the server.
func TestCached(t *testing.T) {
	g := newThings(t, 1)
	l := &logged{Handler: g}
	s := reach(t, l, Settings{Cache: t.TempDir()})
	want := func(chart, base, rows int) {
		t.Helper()
		if c, b, r := s.Cached(g.hash, wire.Float32); c != int64(chart) || b != int64(base) || r != int64(rows) {
			t.Errorf("%d, %d, %d, want %d, %d, %d", c, b, r, chart, base, rows)
		}
	}
	want(-1, -1, -1)
	if s.CachedCodebook(g.hash) {
		t.Error("a codebook that nobody fetched")
	}
	fetchThings(t, s, g)
	l.take()
	want(len(g.chart), len(g.base), len(g.rows))
	if !s.CachedCodebook(g.hash) || len(l.take()) > 0 {
		t.Error("the codebook is not in the cache")
	}
	if c, b, r := reach(t, g, Settings{}).Cached(g.hash, wire.Float32); c != -1 || b != -1 || r != -1 {
		t.Error("without a cache")
	}
}

func TestReadDescription(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"name":"a","version":2,"bytes":{"base":{"int8":1,"float99":-1},"map":3}}`: true,
		`{}`: true, ``: false, `[]`: false, `{"bytes":{"base":{"int8":-1}}}`: false, `{"bytes":{"map":-1}}`: false, `{"bytes":{"labels":-1}}`: false,
	} {
		if _, err := readDescription([]byte(text)); ok != (err == nil) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
