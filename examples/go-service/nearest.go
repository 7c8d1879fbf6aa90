package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// service answers POST /nearest.
type service struct {
	engine  *privatemail.Engine
	gallery *gallery
}

// A question is the body of a request.
type question struct {
	Rows [][]float32 `json:"rows"`
	K    int         `json:"k"`
}

// A neighbour is a row of the gallery and its distance from the query.
type neighbour struct {
	Row      int64   `json:"row"`
	Label    int32   `json:"label"`
	Distance float32 `json:"distance"`
}

// An answer has a list for each row of the question, nearest first.
type answer struct {
	Nearest [][]neighbour `json:"nearest"`
}

// mostBytes is the largest body. It bounds the memory of a request before it is counted.
const mostBytes = 8 << 20

// errQuestion reports a body that is not a question. It is sent to the client.
var errQuestion = errors.New("bad request")

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := s.answer(r.Context(), http.MaxBytesReader(w, r.Body, mostBytes))
	if err == nil {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(out); err != nil {
			log.Printf("an answer could not be sent: %v", err)
		}
		return
	}
	var large *http.MaxBytesError
	switch {
	case r.Context().Err() != nil: // the sender is gone
	case errors.As(err, &large):
		http.Error(w, fmt.Sprintf("the body is larger than %d bytes", large.Limit), http.StatusRequestEntityTooLarge)
	case errors.Is(err, errQuestion), errors.Is(err, kernel.ErrNonFinite):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, kernel.ErrMemory):
		http.Error(w, "the request needs more memory than the service has", http.StatusServiceUnavailable)
	default:
		log.Printf("a request failed: %v", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
	}
}

// answer reads a question and answers it. It stops when ctx ends, as it does when the sender
// disconnects.
func (s *service) answer(ctx context.Context, body io.Reader) (*answer, error) {
	var q question
	if err := json.NewDecoder(body).Decode(&q); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, err
		}
		// The text of the error may contain a value of the row.
		return nil, fmt.Errorf(`%w: want {"rows": [[...], ...], "k": 8}`, errQuestion)
	}
	queries, err := s.check(&q)
	if err != nil {
		return nil, err
	}
	return s.find(ctx, queries, q.K)
}

// check returns the rows of a question as a matrix.
func (s *service) check(q *question) (blas32.General, error) {
	d, most := s.gallery.model.Map.Dim, s.gallery.rows().Rows
	switch {
	case len(q.Rows) == 0:
		return blas32.General{}, fmt.Errorf("%w: there are no rows", errQuestion)
	case q.K < 1 || q.K > most:
		return blas32.General{}, fmt.Errorf("%w: k must be from 1 to %d", errQuestion, most)
	}
	x := blas32.General{Rows: len(q.Rows), Cols: d, Stride: d, Data: make([]float32, 0, len(q.Rows)*d)}
	for i, row := range q.Rows {
		if len(row) != d {
			return blas32.General{}, fmt.Errorf("%w: row %d has %d values, want %d", errQuestion, i+1, len(row), d)
		}
		x.Data = append(x.Data, row...)
	}
	return x, nil
}

// neighbourBytes is the memory of a neighbour: 12 bytes in the search, 24 in the answer, and up
// to 60 as JSON.
const neighbourBytes = 96

// find places the queries by the map and searches the gallery for them, in memory that the
// engine has reserved.
func (s *service) find(ctx context.Context, queries blas32.General, k int) (out *answer, err error) {
	x := s.gallery.rows()
	bytes := 4*int64(queries.Rows)*int64(x.Cols) + neighbourBytes*int64(queries.Rows)*int64(k)
	err = s.engine.Reserve(ctx, bytes, func(ctx context.Context) error {
		placed, err := s.gallery.model.Map.Place(ctx, s.engine, queries)
		if err != nil {
			return err
		}
		ids, distances := make([]int64, queries.Rows*k), make([]float32, queries.Rows*k)
		if err := s.engine.Nearest(ctx, x, placed, k, ids, distances); err != nil {
			return err
		}
		out = &answer{Nearest: make([][]neighbour, queries.Rows)}
		for i := range out.Nearest {
			out.Nearest[i] = make([]neighbour, k)
			for j := range k {
				row := ids[i*k+j]
				out.Nearest[i][j] = neighbour{row, s.gallery.labels[row], distances[i*k+j]}
			}
		}
		return nil
	})
	return out, err
}
