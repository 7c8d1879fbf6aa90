package remote

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

func FuzzPart(f *testing.F) {
	f.Add([]byte(`"`+strings.Repeat("ab", 32)+"\"\nPMW1 and more"), int64(100))
	f.Add([]byte(`"`+strings.Repeat("AB", 32)+"\"\nPMW1 and more"), int64(100))
	f.Fuzz(func(t *testing.T, text []byte, most int64) {
		tag, data, err := readPart(bytes.NewReader(text), most, most)
		if err != nil {
			return
		}
		if int64(len(data)) > most || len(data) == 0 {
			t.Errorf("%d bytes of at most %d", len(data), most)
		}
		if again := append([]byte(`"`+tag+"\"\n"), data...); !bytes.Equal(again, text) {
			t.Error("another part")
		}
	})
}

func FuzzRefusal(f *testing.F) {
	f.Add(409, "application/problem+json", []byte(`{"type":"urn:privatemail:stale-codebook","codebook":"00"}`))
	f.Add(500, "text/html", []byte("<html>"))
	f.Fuzz(func(t *testing.T, status int, kind string, body []byte) {
		err := refusal(status, kind, body, wire.Hash{1})
		if text := err.Error(); strings.ContainsAny(text, "\r\n\x1b\x00") || len(text) > 1000 {
			t.Errorf("%q", text)
		}
	})
}

func FuzzDescription(f *testing.F) {
	f.Add([]byte(`{"name":"birds","version":3,"bytes":{"base":{"int8":7},"map":0}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := readDescription(body)
		if err != nil {
			return
		}
		if d.MapBytes < 0 || strings.ContainsAny(d.Name, "\r\n\x1b") {
			t.Errorf("%+v", d)
		}
	})
}

func FuzzCacheFile(f *testing.F) {
	f.Add([]byte("short"), int64(10))
	f.Fuzz(func(t *testing.T, text []byte, most int64) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		body, err := readSummed(path, most)
		if err == nil && (int64(len(body)) > most || !bytes.HasPrefix(text, body)) {
			t.Errorf("%d bytes of at most %d", len(body), most)
		}
	})
}
