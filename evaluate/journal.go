package evaluate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// A Record is the outcome of one cell.
type Record struct {
	Key string `json:"key"`
	Cell
	// Asked is the number of queries behind the figures and Classes how many
	// classes the gallery has.
	Asked   int `json:"asked"`
	Classes int `json:"classes"`
	Gallery int `json:"gallery"`
	// Figures holds what was measured; a figure that does not apply is absent.
	Figures map[Metric]float64 `json:"figures"`
	// Download and Base are numbers of rows, as in Answer.
	Download float64            `json:"download,omitempty"`
	Base     float64            `json:"base,omitempty"`
	Facts    map[string]float64 `json:"facts,omitempty"`
	Seconds  float64            `json:"seconds"`
}

// ErrJournal reports a journal with a line that is no record.
var ErrJournal = errors.New("evaluate: journal not usable")

// A Journal is a file of finished cells, a JSON object a line. Each is appended
// by a single write and synced, so an interrupted sweep loses nothing that was
// finished; a last line without its end is cut off when the file is opened. It
// is safe for concurrent use; another process should not write to the file.
type Journal struct {
	mu      sync.Mutex
	file    *os.File
	records map[string]Record
}

// OpenJournal opens or creates the file and reads the records it has.
func OpenJournal(path string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f, records: make(map[string]Record)}
	if err := j.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return j, nil
}

func (j *Journal) read() error {
	data, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	number := 0
	for line := range bytes.Lines(whole) {
		number++
		var r Record
		if err := json.Unmarshal(line, &r); err != nil || r.Key != r.Cell.Key() {
			return fmt.Errorf("%w: line %d is no record of this program", ErrJournal, number)
		}
		j.records[r.Key] = r
	}
	if len(whole) < len(data) {
		return j.file.Truncate(int64(len(whole)))
	}
	return nil
}

// Find returns the record of a cell.
func (j *Journal) Find(c Cell) (Record, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, ok := j.records[c.Key()]
	return r, ok
}

// Append writes a record down; it is on disk when Append returns.
func (j *Journal) Append(r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("evaluate: journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	j.records[r.Key] = r
	return nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
