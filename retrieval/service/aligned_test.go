package service

import (
	"bytes"
	"context"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A question of Algorithm 1 goes to the service and back, and has the answer that it has in
// process. Questions for another public set are refused.
func TestAligned(t *testing.T) {
	ctx := context.Background()
	rows := func(first, n int) (blas64.General, []int32) {
		x, y := blas64.General{Rows: n, Cols: 2, Stride: 2}, make([]int32, n)
		for i := range n {
			y[i] = int32(i % 3)
			angle := float64(2*y[i]) + 0.01*float64(first+i)
			x.Data = append(x.Data, math.Cos(angle), math.Sin(angle))
		}
		return x, y
	}
	engine, err := privatemail.New(privatemail.WithWorkers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	method := retrieval.PaperMethod()
	asker := func(first int) (*retrieval.Public, *client.Paper) {
		x, y := rows(first, 30)
		public, err := retrieval.NewPublic(x, y, 3)
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.NewPaper(engine, public, method, client.PaperSettings{
			Epsilon: 1, Delta: 1e-5, Relation: sensitivity.ReplaceOne, LabelMode: release.ModeDropped, Ledger: mechanism.NoLedger,
		})
		if err != nil {
			t.Fatal(err)
		}
		return public, c
	}
	public, c := asker(0)
	_, stranger := asker(5)
	x, y := rows(30, 30)
	paper, err := server.NewPaper(ctx, engine, server.Gallery{Features: x, Labels: y}, public, method, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Settings{MaxAligned: 1, MaxQuestion: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Publish(Gallery{Cells: newCells(t, 1), Aligned: paper}); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Public())
	defer web.Close()
	ask := func(c *client.Paper) (*client.Question, []byte) {
		q, err := c.Ask(ctx, client.Record{Features: []float64{0.6, 0.8}}, mechanism.Unit{Kind: release.UnitRecord, Name: "photo 7"})
		if err != nil {
			t.Fatal(err)
		}
		body, err := q.Message().MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return q, body
	}
	q, body := ask(c)
	r := send(t, "POST", web.URL+"/v1/aligned", bytes.NewReader(body))
	var matches wire.Matches
	if err := matches.UnmarshalBinary(r.body); err != nil || r.status != 200 || r.header.Get("Cache-Control") != "no-store, no-transform" {
		t.Fatalf("%d %s %v", r.status, r.body, err)
	}
	got, err := q.Read(&matches)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := paper.Answer(ctx, q.Message())
	if err != nil {
		t.Fatal(err)
	}
	if want, err := q.Read(answer); err != nil || len(want) != 4 || !slices.Equal(got, want) {
		t.Errorf("%v, in process %v, %v", got, want, err)
	}
	if d := send(t, "GET", web.URL+"/v1/gallery", nil); !strings.Contains(string(d.body), `"aligned"`) {
		t.Errorf("the mode is not announced: %s", d.body)
	}

	_, other := ask(stranger)
	wantProblem(t, send(t, "POST", web.URL+"/v1/aligned", bytes.NewReader(other)), 422, "unanswerable")
	wantProblem(t, send(t, "POST", web.URL+"/v1/aligned", bytes.NewReader(body[:100])), 400, "bad-frame")
	wantProblem(t, send(t, "POST", web.URL+"/v1/aligned", bytes.NewReader(make([]byte, 1<<16+1))), 413, "too-large")
	s.aligned.patience = time.Millisecond
	s.aligned.give(s.aligned.tenant("other"), 1) // another question runs
	wantProblem(t, send(t, "POST", web.URL+"/v1/aligned", bytes.NewReader(body)), 503, "busy")
	s.aligned.leave("other", 1)
}
