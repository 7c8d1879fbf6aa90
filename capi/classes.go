//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// modelNames are the names that a caller passes to a fit.
type modelNames struct {
	Classes []string `json:"classes"`
	Columns []string `json:"columns"`
}

// namesOf returns the names in the settings of a fit with the given number of columns and labels.
func namesOf(p *C.pm_fit_settings, columns int, labels []int32) (names modelNames, err error) {
	if p == nil {
		return names, nil
	}
	s, err := sized(p, unsafe.Sizeof(*p), "pm_fit_settings")
	if err != nil || s.names == nil && s.names_size == 0 {
		return names, err
	}
	text, err := array((*byte)(s.names), int64(min(uint64(s.names_size), math.MaxInt64)), "names")
	if err != nil {
		return names, err
	}
	if json.Unmarshal(text, &names) != nil {
		return names, argument("names are not JSON with classes and columns")
	}
	if names.Columns != nil && len(names.Columns) != columns {
		return names, fmt.Errorf("names: %w: %d of %d columns", points.ErrShape, len(names.Columns), columns)
	}
	seen := map[string]bool{}
	for i, name := range names.Classes {
		if seen[name] {
			return names, fmt.Errorf("names: %w: class %d has the same name as an earlier one", kernel.ErrLabels, i)
		}
		seen[name] = true
	}
	for i, label := range labels {
		if names.Classes != nil && int(label) >= len(names.Classes) {
			return names, fmt.Errorf("names: %w: the label of row %d has no name", kernel.ErrLabels, i+1)
		}
	}
	return names, nil
}

//export pmgo_model_classes
func pmgo_model_classes(id C.uintptr_t, labels *C.int32_t, room C.size_t, count *C.size_t) C.pm_status {
	return guard("pm_model_classes", func() error {
		return withModel(id, func(m *model) error {
			if err := checkNeeded(unsafe.Pointer(labels), 4*min(room, math.MaxInt32), count); err != nil {
				return err
			}
			classes := m.Classes()
			*count = C.size_t(len(classes))
			if labels == nil && room == 0 {
				return nil
			}
			if uint64(room) < uint64(len(classes)) {
				return fmt.Errorf("%w: room for %d labels, want %d", errSize, uint64(room), len(classes))
			}
			to, err := array((*int32)(labels), int64(len(classes)), "labels")
			copy(to, classes)
			return err
		})
	})
}

//export pmgo_model_class_name
func pmgo_model_class_name(id C.uintptr_t, label C.int32_t, buffer *C.char, size C.size_t, needed *C.size_t) C.pm_status {
	return guard("pm_model_class_name", func() error {
		return withModel(id, func(m *model) error {
			name := ""
			switch {
			case m.ClassNames == nil:
			case label < 0 || int(label) >= len(m.ClassNames):
				return fmt.Errorf("label: %w: it has no name", kernel.ErrLabels)
			default:
				name = m.ClassNames[label]
			}
			return giveText([]byte(name), buffer, size, needed)
		})
	})
}

//export pmgo_model_predict
func pmgo_model_predict(engine, id C.uintptr_t, x *C.pm_rows, voters C.int64_t, labels *C.int32_t, shares *C.float, votes *C.pm_matrix, caller C.pmc_caller) C.pm_status {
	return guard("pm_model_predict", func() error {
		return withModel(id, func(m *model) error {
			return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
				rows, err := rowsOf(x, "x")
				if err != nil {
					return nil, err
				}
				if voters < 0 {
					return nil, fmt.Errorf("voters: %w: %d, want 0 or more", privatemail.ErrSettings, int64(voters))
				}
				to, err := votesOf(rows, labels, shares, votes)
				if err != nil {
					return nil, err
				}
				return struct{}{}, m.predict(ctx, e, rows, int(min(voters, math.MaxInt32)), to)
			})
		})
	})
}

// votesOf returns where the caller wants the classes and votes of rows.
func votesOf(rows blas32.General, labels *C.int32_t, shares *C.float, votes *C.pm_matrix) (to supervised.Votes, err error) {
	if to.Labels, err = wanted((*int32)(labels), int64(rows.Rows), "labels"); err != nil {
		return to, err
	}
	if to.Shares, err = wanted((*float32)(shares), int64(rows.Rows), "shares"); err != nil {
		return to, err
	}
	if votes != nil {
		if to.Table, err = matrixOf(votes, "votes"); err != nil {
			return to, err
		}
	}
	written := []span{spanOf("labels", to.Labels), spanOf("shares", to.Shares), spanOfRows("votes", to.Table)}
	return to, checkOverlap(written, []span{spanOfRows("x", rows)})
}

// predict places rows and finds their classes.
func (m *model) predict(ctx context.Context, e *privatemail.Engine, rows blas32.General, voters int, to supervised.Votes) error {
	v, err := m.voterOf(ctx, e)
	if err != nil {
		return err
	}
	p, err := m.placer(ctx, e)
	if err != nil {
		return err
	}
	k := m.Map.Columns()
	return e.Reserve(ctx, mem.Saturate(4*float64(rows.Rows)*float64(k)), func(ctx context.Context) error {
		images := blas32.General{Rows: rows.Rows, Cols: k, Stride: k, Data: make([]float32, rows.Rows*k)}
		if err := p.PlaceInto(ctx, e, images, rows); err != nil {
			return err
		}
		return v.Vote(ctx, e, images, voters, to)
	})
}

// voterOf returns the voter among the rows of the model.
func (m *model) voterOf(ctx context.Context, e *privatemail.Engine) (v *supervised.Voter, err error) {
	m.mu.Lock()
	v = m.voter
	m.mu.Unlock()
	if v != nil {
		return v, nil
	}
	err = m.reading(ctx, func() (err error) {
		v, err = m.Voter(ctx, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.voter = v
	return v, nil
}
