package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// answersCases answer requests of mode cells, from the bytes of a request to those of
// an answer of 6.7 MB, and read and rank one at the client.
func answersCases(l *lab) (out []benchCase) {
	n, d := l.size(104_000), 128
	for _, op := range []string{"encoded", "gathered", "marshal", "read", "rank", "round"} {
		out = append(out, benchCase{
			name: fmt.Sprintf("op=%s/n=%d/d=%d/workers=1", op, n, d), n: n, d: d, k: 8, workers: 1,
			setup: func(ctx context.Context, l *lab) (*subject, error) {
				s, err := shared(l, "answers", func() (*answerSetting, error) { return newAnswerSetting(ctx, l, n, d) })
				if err != nil {
					return nil, err
				}
				return s.subject(op), nil
			},
		})
	}
	return out
}

// An answerSetting is a query between a client and two servers of one gallery.
type answerSetting struct {
	encoded, gathering *server.Cells // the first has encoded its answers, the second none
	client             *client.Cells
	base               *client.Base
	row                []float64 // of the record that asks
	request, answer    []byte    // as they travel
	asked              *wire.CellsRequest
	answered           *wire.CellsAnswer
	line               bytes.Buffer // between server and client
}

func newAnswerSetting(ctx context.Context, l *lab, n, d int) (*answerSetting, error) {
	x, _, err := synth.Classes(n, d, 100, 1)
	if err != nil {
		return nil, err
	}
	s := &answerSetting{row: make([]float64, d)}
	for _, c := range []struct {
		server **server.Cells
		memory int64
	}{{&s.encoded, 0}, {&s.gathering, -1}} {
		settings := server.CellsSettings{Epsilon: 4, Encoded: c.memory, Workers: l.workers(allWorkers())}
		if *c.server, err = server.NewCells(ctx, x, x, settings); err != nil {
			return nil, err
		}
	}
	s.client, err = client.NewCells(s.encoded.Codebook(), client.CellsSettings{
		UnconfirmedCodebook: true, Epsilon: 4, Ledger: mechanism.NoLedger, Memory: client.NewMemory(),
	})
	if err != nil {
		return nil, err
	}
	if s.base, err = s.client.NewBase(s.encoded.Base()); err != nil {
		return nil, err
	}
	for j := range s.row {
		s.row[j] = float64(x.Data[j])
	}
	if s.asked, err = s.client.Ask("benchmark", s.row); err != nil {
		return nil, err
	}
	if s.request, err = s.asked.MarshalBinary(); err != nil {
		return nil, err
	}
	if s.answered, err = s.encoded.Answer(s.asked); err != nil {
		return nil, err
	}
	s.answer, err = s.answered.MarshalBinary()
	return s, err
}

func (s *answerSetting) subject(op string) *subject {
	run := map[string]func() error{
		"encoded":  func() error { return s.serve(s.encoded, io.Discard) },
		"gathered": func() error { return s.serve(s.gathering, io.Discard) },
		"marshal":  s.marshal,
		"read":     func() error { return new(wire.CellsAnswer).UnmarshalBinary(s.answer) },
		"rank":     func() error { return s.rank(s.answered) },
		"round":    s.round,
	}[op]
	return &subject{
		run: func(context.Context) error { return run() },
		nnz: int64(len(s.answered.IDs)), pairs: true, roof: roofRead, bytes: int64(len(s.answer)), latency: true,
		eta: math.NaN(), etaP99: math.NaN(),
	}
}

// serve answers a request from its bytes on.
func (s *answerSetting) serve(from *server.Cells, to io.Writer) error {
	var request wire.CellsRequest
	if err := request.UnmarshalBinary(s.request); err != nil {
		return err
	}
	_, err := from.WriteAnswer(to, &request)
	return err
}

// marshal answers a request by way of the message.
func (s *answerSetting) marshal() error {
	var request wire.CellsRequest
	if err := request.UnmarshalBinary(s.request); err != nil {
		return err
	}
	answer, err := s.gathering.Answer(&request)
	if err != nil {
		return err
	}
	frame, err := answer.MarshalBinary()
	if err != nil {
		return err
	}
	_, err = io.Discard.Write(frame)
	return err
}

func (s *answerSetting) rank(answer *wire.CellsAnswer) error {
	_, err := s.client.Rank(s.row, 8, s.asked, answer, s.base)
	return err
}

// round is what a query takes, from the bytes of its request to its matches.
func (s *answerSetting) round() error {
	s.line.Reset()
	if err := s.serve(s.encoded, &s.line); err != nil {
		return err
	}
	var answer wire.CellsAnswer
	if err := answer.UnmarshalBinary(s.line.Bytes()); err != nil {
		return err
	}
	return s.rank(&answer)
}
