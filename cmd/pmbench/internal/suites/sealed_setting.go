package suites

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
	sealedclient "github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

const (
	sealedClasses = 200
	// sealedQueries is how many queries overlaps are measured with, and sealedEncrypted how
	// many of them go through the encryption.
	sealedQueries   = 1000
	sealedEncrypted = 100
)

// A SealedSetting is a gallery of mode sealed with its client.
type SealedSetting struct {
	Lab           *measure.Lab
	rows, queries blas32.General
	Gallery       *sealedserver.Gallery
	Manifest      *wire.SealedManifest
	asker         *sealedclient.Client
	Asked         []*sealedclient.Query // of the first queries, as many as wait
	figures       record.SealedFigures  // those that all cases share
	stored        []int8                // the rows as the server stores them, once somebody wants them
	exact         []int32               // the nearest rows of every query, once somebody wants them
}

// NewSealedSetting returns a gallery of n rows.
func NewSealedSetting(ctx context.Context, l *measure.Lab, n int) (*SealedSetting, error) {
	if err := checkSealedMemory(n, mem.Available()); err != nil {
		return nil, err
	}
	// Queries are of the same classes: the last of the rows that are drawn together.
	x, _, err := synth.Classes(n+sealedQueries, SealedDimension, sealedClasses, 1)
	if err != nil {
		return nil, err
	}
	s := &SealedSetting{Lab: l, rows: rowsOf(x, 0, n), queries: rowsOf(x, n, n+sealedQueries)}
	if s.Gallery, err = s.build(ctx, &s.figures); err != nil {
		return nil, err
	}
	l.AtClose(func() { s.Gallery.Close() })
	s.Manifest = s.Gallery.Manifest()
	hint := s.Gallery.Hint()
	if s.asker, err = sealedclient.New(s.Manifest, hint, sealedclient.Settings{UnconfirmedEpoch: true}); err != nil {
		return nil, err
	}
	if s.Asked, err = s.asker.Ask(ctx, s.doubleQueries(0, sealedWaiting)); err != nil {
		return nil, err
	}
	return s, s.measureBytes(ctx, hint)
}

// checkSealedMemory refuses more rows than the memory has room for: the rows, the copy of them
// that the exact search takes, their bytes, and the gallery.
func checkSealedMemory(n int, available int64) error {
	const row = SealedDimension * (4 + 4 + 1 + 1.25)
	if need := mem.Saturate(float64(n) * row * 1.2); need > available {
		return fmt.Errorf("%d rows take %d bytes, and %d are free: choose a smaller -n", n, need, available)
	}
	return nil
}

func rowsOf(x blas32.General, lo, hi int) blas32.General {
	return blas32.General{Rows: hi - lo, Cols: x.Cols, Stride: x.Stride, Data: x.Data[lo*x.Stride : (hi-1)*x.Stride+x.Cols]}
}

// build lays the gallery out and notes how long that takes, and its hint.
func (s *SealedSetting) build(ctx context.Context, f *record.SealedFigures) (*sealedserver.Gallery, error) {
	began := time.Now()
	hintBegan := began
	g, err := sealedserver.New(ctx, s.rows, sealedserver.Settings{
		Seed: 1, Workers: s.Lab.Workers(measure.AllWorkers()),
		Progress: func(stage string, done, total int) {
			switch now := time.Now(); {
			case stage != "hint":
				hintBegan = now
			case done == total:
				f.HintSeconds = now.Sub(hintBegan).Seconds()
			}
		},
	})
	f.BuildSeconds, f.BuildWorkers = time.Since(began).Seconds(), measure.AllWorkers()
	return g, err
}

// doubleQueries returns some queries as the client takes them.
func (s *SealedSetting) doubleQueries(lo, hi int) blas64.General {
	out := blas64.General{Rows: hi - lo, Cols: s.queries.Cols, Stride: s.queries.Cols, Data: make([]float64, (hi-lo)*s.queries.Cols)}
	for i := range out.Rows {
		points.ReadRow(out.Data[i*out.Stride:][:out.Cols], s.queries, lo+i)
	}
	return out
}

// measureBytes notes what travels, in its binary form.
func (s *SealedSetting) measureBytes(ctx context.Context, hint *wire.SealedHint) error {
	f := &s.figures
	f.Cells, f.Length, f.Probes = s.Manifest.Cells, s.Manifest.Length, s.Manifest.Probes
	answers, err := s.Gallery.Answer(ctx, s.Asked[0].Request())
	if err != nil {
		return err
	}
	for _, m := range []struct {
		bytes   *int64
		message interface{ MarshalBinary() ([]byte, error) }
	}{
		{&f.UpBytes, s.Asked[0].Request()}, {&f.DownBytes, answers[0]}, {&f.HintBytes, hint}, {&f.ManifestBytes, s.Manifest},
	} {
		frame, err := m.message.MarshalBinary()
		if err != nil {
			return err
		}
		*m.bytes = int64(len(frame))
	}
	return nil
}

// MatrixBytes are those of the matrix of the server without what fills it up.
func (s *SealedSetting) MatrixBytes() int64 {
	return int64(s.Manifest.Length) * int64(s.Manifest.Columns())
}

// subject returns one with the figures of the setting; queries is how many one operation has.
func (s *SealedSetting) subject(queries int, run func(context.Context) error) *measure.Subject {
	figures := s.figures
	figures.Queries = queries
	return &measure.Subject{
		Run: run, Sealed: &figures, Roof: measure.RoofRead, Eta: math.NaN(), EtaP99: math.NaN(),
		NNZ: int64(queries) * int64(s.Manifest.Probes) * s.MatrixBytes(), Bytes: s.MatrixBytes(),
	}
}

// answering is what the server does for queries that share a pass.
func (s *SealedSetting) answering(ctx context.Context, queries, workers int) (*measure.Subject, error) {
	requests := make([]*wire.SealedRequest, queries)
	for i := range requests {
		requests[i] = s.Asked[i].Request()
	}
	out := s.subject(queries, func(ctx context.Context) error {
		s.Gallery.SetWorkers(s.Lab.Workers(workers))
		_, err := s.Gallery.Answer(ctx, requests...)
		return err
	})
	// Three byte planes: the fourth was rounded away.
	out.Roof, out.Madds = measure.RoofWords, 3*float64(out.NNZ)
	var err error
	out.Peak, err = wordPeak(ctx, s.Lab, workers)
	return out, err
}

// reading reads as many bytes as the matrix has and does nothing with them. It takes turns with
// the answers, so that both meet the same neighbours on the machine: the limits of the machine are
// the best of a few moments before.
func (s *SealedSetting) reading(workers int) *measure.Subject {
	array, _ := measure.Shared(s.Lab, "sealed bytes", func() ([]uint64, error) { // which does not fail
		words := make([]uint64, s.MatrixBytes()/8)
		for i := range words {
			words[i] = uint64(i) // memory that was never written to is not read
		}
		return words, nil
	})
	return s.subject(1, func(ctx context.Context) error {
		return measure.ReadArray(ctx, s.Lab.Workers(workers), array, measure.SumLines)
	})
}

// client is what the client does for a query: encrypt it, decrypt the answer and rank.
func (s *SealedSetting) client() *measure.Subject {
	var answer *wire.SealedAnswer
	row := s.doubleQueries(0, 1)
	out := s.subject(1, func(ctx context.Context) error {
		if answer == nil { // of the right shape: what it holds does not matter for the time
			answers, err := s.Gallery.Answer(ctx, s.Asked[0].Request())
			if err != nil {
				return err
			}
			answer = answers[0]
		}
		asked, err := s.asker.Ask(ctx, row)
		if err != nil {
			return err
		}
		defer asked[0].Forget()
		_, err = s.asker.Rank(asked[0], answer, nearestOverlap)
		return err
	})
	out.Bytes = s.figures.HintBytes // which is read once; the public matrix is computed
	return out
}

// messages is what writing and reading a request and an answer takes.
func (s *SealedSetting) messages() *measure.Subject {
	out := s.subject(1, func(ctx context.Context) error {
		frame, err := s.Asked[0].Request().MarshalBinary()
		if err != nil {
			return err
		}
		return new(wire.SealedRequest).UnmarshalBinary(frame)
	})
	out.Bytes = 2 * s.figures.UpBytes
	return out
}

// endToEnd is a query from its row to its matches, with messages in their binary form between.
func (s *SealedSetting) endToEnd() *measure.Subject {
	row := s.doubleQueries(0, 1)
	return s.subject(1, func(ctx context.Context) error {
		asked, err := s.asker.Ask(ctx, row)
		if err != nil {
			return err
		}
		defer asked[0].Forget()
		frame, err := asked[0].Request().MarshalBinary()
		if err != nil {
			return err
		}
		var request wire.SealedRequest
		if err := request.UnmarshalBinary(frame); err != nil {
			return err
		}
		s.Gallery.SetWorkers(s.Lab.Workers(measure.AllWorkers()))
		answers, err := s.Gallery.Answer(ctx, &request)
		if err != nil {
			return err
		}
		if frame, err = answers[0].MarshalBinary(); err != nil {
			return err
		}
		var answer wire.SealedAnswer
		if err := answer.UnmarshalBinary(frame); err != nil {
			return err
		}
		_, err = s.asker.Rank(asked[0], &answer, nearestOverlap)
		return err
	})
}

// building is the gallery made again, with its hint.
func (s *SealedSetting) building() *measure.Subject {
	var out *measure.Subject
	out = s.subject(1, func(ctx context.Context) error {
		g, err := s.build(ctx, out.Sealed)
		if err != nil {
			return err
		}
		return g.Close()
	})
	// The product with the public matrix, of four byte planes.
	out.NNZ = sealed.SecretWords * s.MatrixBytes()
	return out
}
