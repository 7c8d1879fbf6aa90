//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// A model is the value of a pm_model.
type model struct {
	*supervised.Model
	about supervised.About
	saved *supervised.Saved // the file of which the rows are a view; nil for a fitted model

	mu    sync.Mutex
	ready *supervised.Placer // its map, set at the first use
	voter *supervised.Voter  // of its rows, set at the first use
}

// placer returns the map of the model, prepared for an engine and kept, since rows often come
// one at a time.
func (m *model) placer(ctx context.Context, e *privatemail.Engine) (*supervised.Placer, error) {
	m.mu.Lock()
	p := m.ready
	m.mu.Unlock()
	if p != nil && p.Level() == e.Level() {
		return p, nil
	}
	p, err := m.Map.Placer(ctx, e)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = p
	return p, nil
}

// Close releases the file. The registry calls it when the model is unused.
func (m *model) Close() error {
	if m.saved == nil {
		return nil
	}
	return m.saved.Close()
}

// reading calls read, which reads rows of the model. If these are a view of a file, the file is
// verified again afterwards.
func (m *model) reading(ctx context.Context, read func() error) error {
	if m.saved == nil {
		return read()
	}
	return m.saved.Reading(ctx, read)
}

// addModel makes a handle for a model from a file or from bytes.
func addModel(s *supervised.Saved) C.uintptr_t {
	return C.uintptr_t(handles.add(&model{Model: s.Model, about: s.About, saved: s}))
}

// fitSettingsOf returns the settings of a fit; NULL stands for the defaults.
func fitSettingsOf(p *C.pm_fit_settings) (*supervised.Settings, error) {
	if p == nil {
		return new(supervised.Settings), nil
	}
	s, err := sized(p, unsafe.Sizeof(*p), "pm_fit_settings")
	if err != nil {
		return nil, err
	}
	out := &supervised.Settings{Seed: uint64(s.seed)}
	if err := setFlags([]flagField{{"normalize_rows", s.normalize_rows, &out.NormalizeRows}, {"unmeasured", s.unmeasured, &out.Unmeasured}}); err != nil {
		return nil, err
	}
	text, err := textOf(s.goal, "goal")
	if err != nil {
		return nil, err
	}
	if text != "" {
		if out.Goal, err = supervised.ParseGoal(text); err != nil {
			return nil, err
		}
	}
	if text, err = textOf(s.recipe, "recipe"); err != nil || text == "" {
		return out, err
	}
	recipe, err := supervised.ParseRecipe(text)
	out.Recipe = &recipe
	return out, err
}

// aboutLabels says how many rows have a label and how many classes there are.
func aboutLabels(rows, columns int, labels []int32) supervised.About {
	about := supervised.About{Rows: rows, Columns: columns}
	classes := map[int32]bool{}
	for _, y := range labels {
		if y >= 0 {
			about.Labelled++
			classes[y] = true
		}
	}
	about.Classes = len(classes)
	return about
}

//export pmgo_fit
func pmgo_fit(engine C.uintptr_t, x *C.pm_rows, labels *C.int32_t, settings *C.pm_fit_settings, id *C.uintptr_t, caller C.pmc_caller) C.pm_status {
	return guard("pm_fit", func() error {
		switch {
		case id == nil:
			return argument("model is NULL")
		case labels == nil:
			return argument("labels is NULL")
		}
		return withEngine(engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
			rows, err := rowsOf(x, "x")
			if err != nil {
				return nil, err
			}
			y, err := labelsOf(labels, rows.Rows)
			if err != nil {
				return nil, err
			}
			s, err := fitSettingsOf(settings)
			if err != nil {
				return nil, err
			}
			names, err := namesOf(settings, rows.Cols, y)
			if err != nil {
				return nil, err
			}
			m, err := supervised.Fit(ctx, e, rows, y, s)
			if err != nil {
				return nil, err
			}
			m.ClassNames, m.Map.ColumnNames = names.Classes, names.Columns
			*id = C.uintptr_t(handles.add(&model{Model: m, about: aboutLabels(rows.Rows, rows.Cols, y)}))
			return m, nil
		})
	})
}

//export pmgo_model_open
func pmgo_model_open(path *C.char, id *C.uintptr_t) C.pm_status {
	return guard("pm_model_open", func() error {
		if id == nil {
			return argument("model is NULL")
		}
		name, err := pathOf(path)
		if err != nil {
			return err
		}
		s, err := supervised.Open(context.Background(), name, nil)
		if err != nil {
			return err
		}
		*id = addModel(s)
		return nil
	})
}

// pathOf returns the path of a file, which is required.
func pathOf(path *C.char) (string, error) {
	name, err := textOf(path, "path")
	if err == nil && name == "" {
		err = argument("path is NULL or empty")
	}
	return name, err
}

//export pmgo_model_save
func pmgo_model_save(id C.uintptr_t, path *C.char, caller C.pmc_caller) C.pm_status {
	return guard("pm_model_save", func() error {
		return withModel(id, func(m *model) error {
			name, err := pathOf(path)
			if err != nil {
				return err
			}
			return withCall(caller, func(ctx context.Context) (any, error) {
				if m.saved != nil {
					return struct{}{}, m.saved.Save(ctx, name)
				}
				return struct{}{}, m.Save(ctx, name, m.about)
			})
		})
	})
}

// withModel calls do with a model.
func withModel(id C.uintptr_t, do func(m *model) error) error {
	m, done, err := use[*model](&handles, uintptr(id), "model")
	if err != nil {
		return err
	}
	defer done()
	return do(m)
}

// A bufferWriter writes to the caller's memory while there is room, and counts all bytes:
// models are large, so a second copy is avoided.
type bufferWriter struct {
	to     []byte
	needed int
}

// Write implements io.Writer.
func (w *bufferWriter) Write(p []byte) (int, error) {
	if w.needed < len(w.to) {
		copy(w.to[w.needed:], p)
	}
	w.needed += len(p)
	return len(p), nil
}

//export pmgo_model_write
func pmgo_model_write(id C.uintptr_t, buffer unsafe.Pointer, size C.size_t, needed *C.size_t) C.pm_status {
	return guard("pm_model_write", func() error {
		return withModel(id, func(m *model) error {
			if err := checkNeeded(buffer, size, needed); err != nil {
				return err
			}
			to, err := array((*byte)(buffer), int64(min(uint64(size), math.MaxInt64)), "buffer")
			if err != nil {
				return err
			}
			w := &bufferWriter{to: to}
			if err := m.reading(context.Background(), func() error { return m.Write(w, m.about) }); err != nil {
				return err
			}
			*needed = C.size_t(w.needed)
			if asks := buffer == nil && size == 0; !asks && w.needed > len(to) {
				return fmt.Errorf("%w: %d bytes, want %d", errSize, len(to), w.needed)
			}
			return nil
		})
	})
}

//export pmgo_model_read
func pmgo_model_read(bytes unsafe.Pointer, size C.size_t, id *C.uintptr_t) C.pm_status {
	return guard("pm_model_read", func() error {
		if id == nil {
			return argument("model is NULL")
		}
		data, err := copyOf(bytes, size)
		if err != nil {
			return err
		}
		s, err := supervised.Read(data)
		if err != nil {
			return err
		}
		*id = addModel(s)
		return nil
	})
}

// copyOf returns a copy of the caller's bytes, which must not be read after the call.
func copyOf(bytes unsafe.Pointer, size C.size_t) ([]byte, error) {
	data, err := array((*byte)(bytes), int64(min(uint64(size), math.MaxInt64)), "bytes")
	return append([]byte(nil), data...), err
}

//export pmgo_model_size
func pmgo_model_size(id C.uintptr_t, rows, input, output *C.int64_t) C.pm_status {
	return guard("pm_model_size", func() error {
		return withModel(id, func(m *model) error {
			return giveNumbers(number{"rows", rows, m.X.Rows}, number{"input", input, m.Map.Dim}, number{"output", output, m.Map.Columns()})
		})
	})
}

//export pmgo_model_rows
func pmgo_model_rows(id C.uintptr_t, out *C.pm_matrix) C.pm_status {
	return guard("pm_model_rows", func() error {
		return withModel(id, func(m *model) error {
			to, err := matrixOf(out, "out")
			if err != nil {
				return err
			}
			if to.Rows != m.X.Rows || to.Cols != m.X.Cols {
				return fmt.Errorf("out: %w: %d x %d for rows of %d x %d", points.ErrShape, to.Rows, to.Cols, m.X.Rows, m.X.Cols)
			}
			return m.reading(context.Background(), func() error {
				for i := range to.Rows {
					copy(to.Data[i*to.Stride:][:to.Cols], m.X.Data[i*m.X.Stride:])
				}
				return nil
			})
		})
	})
}

// fewRows is the most rows that are placed on the thread of the caller, by one worker.
const fewRows = 16

//export pmgo_model_apply
func pmgo_model_apply(engine, id C.uintptr_t, x *C.pm_rows, out *C.pm_matrix, caller C.pmc_caller) C.pm_status {
	return guard("pm_model_apply", func() error {
		run := apart
		if x != nil && x.rows <= fewRows {
			run = caught
		}
		return withModel(id, func(m *model) error {
			return withEngineBy(run, engine, caller, func(ctx context.Context, e *privatemail.Engine) (any, error) {
				rows, err := rowsOf(x, "x")
				if err != nil {
					return nil, err
				}
				to, err := matrixOf(out, "out")
				if err != nil {
					return nil, err
				}
				if err := checkOverlap([]span{spanOfRows("out", to)}, []span{spanOfRows("x", rows)}); err != nil {
					return nil, err
				}
				p, err := m.placer(ctx, e)
				if err != nil {
					return nil, err
				}
				return struct{}{}, p.PlaceInto(ctx, e, to, rows)
			})
		})
	})
}

//export pmgo_model_describe
func pmgo_model_describe(id C.uintptr_t, buffer *C.char, size C.size_t, needed *C.size_t) C.pm_status {
	return guard("pm_model_describe", func() error {
		return withModel(id, func(m *model) error {
			text, err := m.describe()
			if err != nil {
				return err
			}
			return giveText(text, buffer, size, needed)
		})
	})
}

// describe returns the JSON of the model, as in the report of pm_fit, and about.
func (m *model) describe() ([]byte, error) {
	text, err := json.Marshal(m.Model)
	if err != nil {
		return nil, err
	}
	own := m.about
	if names := m.Map.ColumnNames; names != nil {
		own.ColumnNames = names
	}
	about, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	said := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, err
	}
	said["about"] = about
	return json.Marshal(said)
}

//export pmgo_model_free
func pmgo_model_free(id C.uintptr_t) C.pm_status {
	return guard("pm_model_free", func() error { return free[*model](&handles, uintptr(id), "model") })
}
