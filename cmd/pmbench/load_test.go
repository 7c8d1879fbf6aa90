package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/load"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
)

// galleryFile saves a small gallery and returns the name of its file.
func galleryFile(t *testing.T, seed uint64) string {
	t.Helper()
	x, _, err := synth.Classes(400, 8, 5, seed)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := server.NewCells(t.Context(), x, x, server.CellsSettings{Epsilon: 4})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "small.gallery")
	if err := cells.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// served returns the addresses of a service of a gallery file, public and admin.
func served(t *testing.T, file string) (public, admin string) {
	t.Helper()
	cells, err := server.OpenCells(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.New(service.Settings{})
	if err == nil {
		err = s.Publish(service.Offer{Name: "small", Cells: cells})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	listeners := []string{}
	for _, h := range []http.Handler{s.Public(), s.Admin()} {
		l := httptest.NewServer(h)
		t.Cleanup(l.Close)
		listeners = append(listeners, l.URL)
	}
	return listeners[0], listeners[1]
}

// Answers of a service are those of its gallery file, in both encodings, and the figures are
// there.
func TestLoad(t *testing.T) {
	file := galleryFile(t, 1)
	public, admin := served(t, file)
	for _, encoding := range []string{"float32", "int8"} {
		code, stdout, stderr := call("load", public, "-clients", "4", "-queries", "40", "-encoding", encoding, "-check", file, "-metrics", admin+"/metrics", "-json", "-quiet")
		var out load.Result
		if err := json.Unmarshal([]byte(stdout), &out); code != cli.OK || err != nil {
			t.Fatalf("%s: exit code %d, %q, %v", encoding, code, stderr, err)
		}
		if out.Queries != 40 || out.Clients != 4 || !out.Checked || out.AnswerBytes < 400 || out.Seconds <= 0 || out.P50 <= 0 || out.P99 < out.P50 || len(out.ResidentBytes) != 11 || out.ResidentBytes[10] < 1<<20 {
			t.Errorf("%s: %+v", encoding, out)
		}
	}
	code, stdout, stderr := call("load", public, "-queries", "5", "-check", file, "-quiet")
	if code != cli.OK || !strings.Contains(stdout, "5 queries of 16 clients") || !strings.Contains(stdout, "byte for byte") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}

// A service of another gallery, one whose answers are wrong, and no service at all are reported.
func TestLoadRefuses(t *testing.T) {
	file := galleryFile(t, 1)
	public, _ := served(t, file)
	refuse(t, cli.Failed, []string{"load", public, "-quiet", "-check", galleryFile(t, 2)}, "another codebook")
	refuse(t, cli.Failed, []string{"load", public, "-quiet", "-metrics", public + "/v1/gallery"}, "process_resident_memory_bytes")
	refuse(t, cli.Usage, []string{"load", public, "-encoding", "float64"}, "-encoding")
	refuse(t, cli.Usage, []string{"load", "here"}, "URL")
	refuse(t, cli.Usage, []string{"load"}, "URL")
	refuse(t, cli.Usage, []string{"load", public, "-get", "-check", file}, "-check")
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	refuse(t, cli.Failed, []string{"load", nothing.URL, "-quiet"}, "404")
	refuse(t, cli.Failed, []string{"load", nothing.URL + "/file", "-get", "-quiet"}, "404")

	var missing atomic.Int64 // bytes of each answer
	wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, public+r.URL.String(), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		answer, err := http.DefaultClient.Do(s)
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Method == http.MethodPost {
			text[len(text)/2] ^= 1
			text = text[:len(text)-int(missing.Load())]
		}
		w.Write(text)
	}))
	t.Cleanup(wrong.Close)
	refuse(t, cli.Failed, []string{"load", wrong.URL, "-quiet", "-check", file}, "not that of the gallery file")
	missing.Store(1)
	refuse(t, cli.Failed, []string{"load", wrong.URL, "-quiet"}, "were expected")
	http.DefaultClient.CloseIdleConnections()
}
