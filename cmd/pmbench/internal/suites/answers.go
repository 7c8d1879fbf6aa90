package suites

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// answersCases answer requests of mode cells, from the bytes of a request to those of
// an answer of 6.7 MB, or 1.8 MB with rows of int8, and read and rank one at the client. The
// last ranks all rows of int8.
func answersCases(l *measure.Lab) (out []measure.Case) {
	n, d := l.Size(104_000), 128
	for _, op := range []string{
		"encoded", "gathered", "marshal", "read", "rank", "round",
		"encoded-int8", "gathered-int8", "read-int8", "rank-int8", "round-int8", "take-all",
	} {
		out = append(out, measure.Case{
			Name: fmt.Sprintf("op=%s/n=%d/d=%d/workers=1", op, n, d), N: n, D: d, K: 8, Workers: 1,
			Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
				s, err := measure.Shared(l, "answers", func() (*answerSetting, error) { return newAnswerSetting(ctx, l, n, d) })
				if err != nil {
					return nil, err
				}
				return s.subject(op)
			},
		})
	}
	return out
}

// An answerSetting is a query between a client and two servers of one gallery.
type answerSetting struct {
	encoded, gathering *server.Cells // the first has encoded its answers, the second none
	client             *client.Cells
	all                *client.All
	row                []float64 // of the record that asks
	request            []byte    // as it travels
	asked              *wire.CellsRequest
	encodings          [2]encodedAnswer // by wire.Encoding
	line               bytes.Buffer     // between server and client
}

// An encodedAnswer is what is sent with rows of one encoding.
type encodedAnswer struct {
	encoding wire.Encoding
	base     *client.Base
	answer   []byte // as it travels
	answered *wire.CellsAnswer
}

func newAnswerSetting(ctx context.Context, l *measure.Lab, n, d int) (*answerSetting, error) {
	x, _, err := synth.Classes(n, d, 100, 1)
	if err != nil {
		return nil, err
	}
	s := &answerSetting{row: make([]float64, d)}
	for _, c := range []struct {
		server **server.Cells
		memory int64
	}{{&s.encoded, 0}, {&s.gathering, -1}} {
		settings := server.CellsSettings{Epsilon: 4, Encoded: c.memory, Workers: l.Workers(measure.AllWorkers())}
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
	var gallery wire.AllRows
	if err := gallery.UnmarshalBinary(s.encoded.AllRowsFrame()); err != nil {
		return nil, err
	}
	if s.all, err = client.NewAll(s.encoded.Codebook(), client.AllSettings{UnconfirmedCodebook: true}, &gallery); err != nil {
		return nil, err
	}
	for j := range s.row {
		s.row[j] = float64(x.Data[j])
	}
	record, err := client.ByContent(s.row)
	if err != nil {
		return nil, err
	}
	if s.asked, err = s.client.Ask(record, s.row); err != nil {
		return nil, err
	}
	if s.request, err = s.asked.MarshalBinary(); err != nil {
		return nil, err
	}
	for i := range s.encodings {
		f := &s.encodings[i]
		f.encoding = wire.Encoding(i)
		if f.base, err = s.client.NewBase(s.encoded.Base(f.encoding)); err != nil {
			return nil, err
		}
		if f.answered, err = s.encoded.Answer(s.asked, f.encoding); err != nil {
			return nil, err
		}
		if f.answer, err = f.answered.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *answerSetting) subject(op string) (*measure.Subject, error) {
	name, compact := strings.CutSuffix(op, "-int8")
	f := &s.encodings[wire.Float32]
	if compact {
		f = &s.encodings[wire.Int8]
	}
	run, ok := map[string]func() error{
		"encoded":  func() error { return s.serve(s.encoded, io.Discard, f.encoding) },
		"gathered": func() error { return s.serve(s.gathering, io.Discard, f.encoding) },
		"marshal":  s.marshal,
		"read":     func() error { return new(wire.CellsAnswer).UnmarshalBinary(f.answer) },
		"rank":     func() error { return s.rank(f, f.answered) },
		"round":    func() error { return s.round(f) },
		"take-all": s.takeAll,
	}[name]
	if !ok {
		return nil, fmt.Errorf("no operation %s", op)
	}
	rows, length := len(f.answered.IDs), len(f.answer)
	if name == "take-all" {
		rows, length = s.encoded.Codebook().Rows, len(s.encoded.AllRowsFrame())
	}
	return &measure.Subject{
		Run: func(context.Context) error { return run() },
		NNZ: int64(rows), Pairs: true, Roof: measure.RoofRead, Bytes: int64(length), Latency: true,
		Eta: math.NaN(), EtaP99: math.NaN(),
	}, nil
}

// serve answers a request from its bytes on.
func (s *answerSetting) serve(from *server.Cells, to io.Writer, encoding wire.Encoding) error {
	var request wire.CellsRequest
	if err := request.UnmarshalBinary(s.request); err != nil {
		return err
	}
	_, err := from.WriteAnswer(to, &request, encoding)
	return err
}

// marshal answers a request by way of the message.
func (s *answerSetting) marshal() error {
	var request wire.CellsRequest
	if err := request.UnmarshalBinary(s.request); err != nil {
		return err
	}
	answer, err := s.gathering.Answer(&request, wire.Float32)
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

func (s *answerSetting) rank(f *encodedAnswer, answer *wire.CellsAnswer) error {
	_, err := s.client.Rank(s.row, 8, s.asked, answer, f.base)
	return err
}

// takeAll ranks all rows at the client.
func (s *answerSetting) takeAll() error {
	_, err := s.all.Rank(s.row, 8)
	return err
}

// round is what a query takes, from the bytes of its request to its matches.
func (s *answerSetting) round(f *encodedAnswer) error {
	s.line.Reset()
	if err := s.serve(s.encoded, &s.line, f.encoding); err != nil {
		return err
	}
	var answer wire.CellsAnswer
	if err := answer.UnmarshalBinary(s.line.Bytes()); err != nil {
		return err
	}
	return s.rank(f, &answer)
}
