package evaluate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/lock"
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
	// Unavailable says why there are no figures at all; empty when there are.
	Unavailable string `json:"unavailable,omitempty"`
	// Download and Base are numbers of rows, as in Answer.
	Download float64            `json:"download,omitempty"`
	Base     float64            `json:"base,omitempty"`
	Volume   Volume             `json:"bytes,omitzero"`
	Facts    map[string]float64 `json:"facts,omitempty"`
	Note     string             `json:"note,omitempty"`
	Seconds  float64            `json:"seconds"`
}

// Errors of journals, matched with errors.Is.
var (
	// ErrJournal reports a journal with a line that is no record.
	ErrJournal = errors.New("journal not usable")
	// ErrJournalInUse reports a journal that another sweep writes to.
	ErrJournalInUse = errors.New("another run is writing to this file")
)

// A Journal is a file of finished cells, a JSON object a line. A cell is appended by a
// single write and synced, so an interrupted sweep loses nothing that was finished; a
// last line without its end is cut off when the file is opened. It is safe for
// concurrent use, and locked against other processes until Close.
type Journal struct {
	mu      sync.Mutex
	file    *os.File
	records map[string]Record
	failed  error // of the first write that failed: half a line may be at the end
}

// OpenJournal opens or creates the file and reads the records it has. Errors are
// ErrJournal, ErrJournalInUse, and those of the file system.
func OpenJournal(path string) (*Journal, error) { return newJournal(path, (*Journal).read) }

// CreateJournal is OpenJournal for an empty journal: what the file has is dropped.
func CreateJournal(path string) (*Journal, error) {
	return newJournal(path, func(j *Journal) error { return j.file.Truncate(0) })
}

func newJournal(path string, begin func(*Journal) error) (*Journal, error) {
	f, err := lock.Open(path, os.O_CREATE)
	if errors.Is(err, lock.ErrHeld) {
		return nil, fmt.Errorf("evaluate: %s: %w", path, ErrJournalInUse)
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f, records: make(map[string]Record)}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		// A device may have no end.
		return nil, errors.Join(fmt.Errorf("evaluate: %s: %w: not a regular file", path, ErrJournal), err, f.Close())
	}
	if err := begin(j); err != nil {
		return nil, errors.Join(fmt.Errorf("evaluate: %s: %w", path, err), f.Close())
	}
	return j, nil
}

// read leaves the file at the end of its last whole line.
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
		if err := json.Unmarshal(line, &r); err != nil || r.Key != r.Cell.key() {
			return fmt.Errorf("%w: line %d is no record of this version of the program", ErrJournal, number)
		}
		j.records[r.Key] = r
	}
	if len(whole) == len(data) {
		return nil
	}
	if err := j.file.Truncate(int64(len(whole))); err != nil {
		return err
	}
	_, err = j.file.Seek(int64(len(whole)), io.SeekStart)
	return err
}

// Find returns the record of a cell.
func (j *Journal) Find(c Cell) (Record, bool) {
	if !c.finite() {
		return Record{}, false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	r, ok := j.records[c.key()]
	return r, ok
}

// add writes a record down; it is on disk when add returns. After a failure
// all further calls fail: a line behind half a line would spoil both.
func (j *Journal) add(r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("evaluate: journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return j.failed
	}
	_, err = j.file.Write(append(line, '\n'))
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.failed = err
		return err
	}
	j.records[r.Key] = r
	return nil
}

// Close closes the file, which releases its lock.
func (j *Journal) Close() error { return j.file.Close() }
