package paper

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/align"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
)

// Rows are what is searched: rows of features with their labels.
type Rows struct {
	Features blas64.General
	Labels   []int32
}

// A Server answers questions as Algorithm 1 does. It is safe for concurrent use.
type Server struct {
	engine  *privatemail.Engine
	public  *Public
	method  Method
	matches int
	anchors blas64.General // the public rows in the server's embedding
	gallery *grid          // the gallery's rows in it
}

// NewServer embeds the gallery and the public rows, from the start of the given
// seed; that is the long work, and the engine reports it. matches is the number
// of answers for a hidden row. The engine must stay open while questions are
// answered. The gallery is not kept.
//
// Errors are kernel.ErrShape for rows that cannot be searched as asked, ErrMethod and those of
// privatemail.Engine.Embed.
func NewServer(ctx context.Context, engine *privatemail.Engine, gallery Rows, public *Public, method Method, matches int, seed uint64) (*Server, error) {
	if err := method.Check(); err != nil {
		return nil, err
	}
	n, d, err := points.Dims(gallery.Features)
	if err != nil {
		return nil, fmt.Errorf("paper: gallery: %w", err)
	}
	if d != public.Dimension() || len(gallery.Labels) != n || matches < 1 || matches > n || n > math.MaxInt32 {
		return nil, fmt.Errorf("paper: gallery: %w: %d rows of %d features, want %d, with %d labels, for %d matches",
			kernel.ErrShape, n, d, public.Dimension(), len(gallery.Labels), matches)
	}
	table, err := kernel.TableByName(method.Table, method.Bandwidth)
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	all := blas32.General{Rows: n + public.Rows(), Cols: d, Stride: d, Data: make([]float32, 0, (n+public.Rows())*d)}
	for _, x := range []blas64.General{gallery.Features, public.Features()} {
		for i := range x.Rows {
			for _, v := range x.Data[i*x.Stride:][:d] {
				all.Data = append(all.Data, float32(v))
			}
		}
	}
	labels := append(append([]int32(nil), gallery.Labels...), public.Labels()...)
	out, err := engine.Embed(ctx, all, labels, &privatemail.Settings{
		Graph:       privatemail.Graph{Bandwidth: method.Bandwidth, NormalizeRows: true},
		Coefficient: method.Alpha, Table: table,
		Dim: method.Dim, SigmaQ: method.SigmaQ, Seed: seed, Steps: method.Steps,
	})
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	x := out.Points.RawMatrix()
	return &Server{
		engine: engine, public: public, method: method, matches: matches,
		anchors: rows(x, n, x.Rows), gallery: newGrid(rows(x, 0, n)),
	}, nil
}

// rows returns the rows lo to hi-1 of x, sharing memory.
func rows(x blas64.General, lo, hi int) blas64.General {
	return blas64.General{Rows: hi - lo, Cols: x.Cols, Stride: x.Stride, Data: x.Data[lo*x.Stride:]}
}

// Answer finds the nearest rows of the gallery for every hidden row of the
// question. Errors are ErrQuestion, also where the public rows do not determine an alignment,
// ErrMethod where the two sides use different numbers, and those of Question.Check and
// privatemail.Engine.Continue.
func (s *Server) Answer(ctx context.Context, question *Question) (*Matches, error) {
	if err := s.checkQuestion(question); err != nil {
		return nil, err
	}
	r := question.Release
	hidden := r.Rows - s.public.Rows()
	var labels *release.PublicLabels
	if r.Labels.Mode == release.ModePublic {
		var err error
		if labels, err = release.Declare(question.Labels, r.Query.Classes); err != nil {
			return nil, fmt.Errorf("paper: %w", err)
		}
	}
	out, err := s.engine.Continue(ctx, r, labels, &post.Settings{Steps: s.method.Steps})
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	x := out.Points.RawMatrix()
	similarity, err := align.Find(rows(x, hidden, x.Rows), s.anchors)
	if errors.Is(err, align.ErrDegenerate) {
		return nil, fmt.Errorf("paper: %w: %w", ErrQuestion, err)
	}
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	asked, err := similarity.Apply(rows(x, 0, hidden))
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	if err := points.CheckFinite(asked); err != nil {
		return nil, fmt.Errorf("paper: aligned rows: %w", err)
	}
	return s.match(ctx, r.ID, asked)
}

// checkQuestion refuses an invalid question, and one for another server.
func (s *Server) checkQuestion(question *Question) error {
	if question == nil {
		return fmt.Errorf("paper: %w: there is none", ErrQuestion)
	}
	if err := question.Check(); err != nil {
		return err
	}
	r := question.Release
	hidden := r.Rows - s.public.Rows()
	switch {
	case question.Public != s.public.Hash():
		return fmt.Errorf("paper: %w: it is about another public set", ErrQuestion)
	case hidden < 1 || hidden > s.public.Classes()+1:
		return fmt.Errorf("paper: %w: %d hidden rows, want 1 to %d", ErrQuestion, hidden, s.public.Classes()+1)
	case r.Columns != s.method.Dim || r.Query.Alpha != s.method.Alpha || r.Query.Table != s.method.Table ||
		math.Abs(r.Query.Sigma/s.method.Bandwidth.Sigma()-1) > 1e-12:
		return fmt.Errorf("paper: %w: the release has other numbers", ErrMethod)
	}
	return nil
}

// match finds the nearest rows of the gallery for each row that is asked for.
func (s *Server) match(ctx context.Context, id [16]byte, asked blas64.General) (*Matches, error) {
	answer := &Matches{Question: id, Hidden: asked.Rows, Each: s.matches}
	for i := range asked.Rows {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("paper: %w", err)
		}
		for _, c := range s.gallery.nearest(asked.Data[i*asked.Stride:][:asked.Cols], s.matches) {
			answer.IDs = append(answer.IDs, int64(c.row))
			answer.Distances = append(answer.Distances, math.Sqrt(c.squaredDistance))
		}
	}
	return answer, nil
}
