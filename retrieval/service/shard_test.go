package service

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// startShard returns a service of a shard of the gallery of start.
func startShard(t testing.TB, index, count int) (*Service, *httptest.Server) {
	t.Helper()
	shard, err := newCells(t, 1).Split(t.Context(), index, count, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Settings{})
	if err == nil {
		err = s.Publish(Offer{Name: "birds", Cells: shard, Map: []byte(`{"columns":3}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Public())
	t.Cleanup(func() {
		web.Close()
		s.Close()
	})
	return s, web
}

// A shard answers front ends and no clients, and a service with all rows no front ends.
func TestShardAnswersFrontEnds(t *testing.T) {
	s, shard := startShard(t, 2, 3)
	whole, web := start(t, Settings{})
	for path, at := range map[string]string{"/v1/rows": shard.URL, "/v1/shard/rows": web.URL} {
		wantProblem(t, send(t, "GET", at+path, nil), 404, "not-offered")
	}
	wantProblem(t, send(t, "POST", shard.URL+"/v1/cells", bytes.NewReader(s.frame(t, 1))), 404, "not-offered")
	wantProblem(t, send(t, "POST", web.URL+"/v1/shard/cells", bytes.NewReader(whole.frame(t, 1))), 404, "not-offered")

	var d description
	if err := json.Unmarshal(send(t, "GET", shard.URL+"/v1/gallery", nil).body, &d); err != nil || d.Shard == nil || d.Modes[0] != "shard" || len(d.Modes) != 1 {
		t.Fatalf("%+v %v", d, err)
	}
	if d.Shard.Index != 2 || d.Shard.Count != 3 || d.Shard.First != 80 || d.Shard.Rows != 80 || d.Rows != 240 {
		t.Errorf("%+v", d.Shard)
	}
	// What all have in common is that of the whole.
	for _, path := range []string{"/v1/codebook", "/v1/base", "/v1/base?encoding=int8", "/v1/map"} {
		if a, b := send(t, "GET", shard.URL+path, nil), send(t, "GET", web.URL+path, nil); a.status != 200 || !bytes.Equal(a.body, b.body) {
			t.Errorf("%s: status %d, or other bytes", path, a.status)
		}
	}
	rows := send(t, "GET", web.URL+"/v1/rows", nil)
	if rows.header.Get("ETag") != `"`+d.Shard.Whole+`"` || !bytes.HasSuffix(rows.body, mustHex(t, d.Shard.Checksum)) {
		t.Error("another hash or checksum than that of the whole")
	}
	length := -1
	for cell := range uint32(d.Cells) {
		r := send(t, "POST", shard.URL+"/v1/shard/cells", bytes.NewReader(s.frame(t, cell)))
		var answer wire.CellsAnswer
		if err := answer.UnmarshalBinary(r.body); err != nil || r.status != 200 || answer.Length != d.Shard.Length {
			t.Fatalf("%d %v", r.status, err)
		}
		if length >= 0 && len(r.body) != length {
			t.Errorf("cell %d: %d bytes, others %d", cell, len(r.body), length)
		}
		length = len(r.body)
	}
}

func mustHex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
