package session

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/retrieval/client"
)

// nameRecords finds out which record each row is: by its content, or by its name.
func (s *Session) nameRecords() (err error) {
	s.result.Equal = 0
	s.records = make([]client.RecordID, s.x.Rows)
	seen := make(map[client.RecordID]bool)
	for i := range s.records {
		row := s.x.Data[i*s.x.Stride:][:s.x.Cols]
		if s.rows.Names == nil {
			s.records[i], err = client.ByContent(row)
		} else {
			s.records[i], err = client.ByName(s.rows.Names[i], row)
		}
		if err != nil {
			return fmt.Errorf("session: %s: row %d: %w", s.rows.File, i+1, err)
		}
		if seen[s.records[i]] {
			s.result.Equal++
		}
		seen[s.records[i]] = true
	}
	if s.rows.Names == nil || s.settings.Changed != client.RefuseChanged {
		return nil
	}
	return s.oneRowEach()
}

// oneRowEach refuses names with several rows.
func (s *Session) oneRowEach() error {
	first := make(map[string]int)
	for i, name := range s.rows.Names {
		before, again := first[name]
		switch {
		case !again:
			first[name] = i
		case s.records[i] != s.records[before]:
			return s.refuse(Refusal{Err: fmt.Errorf("rows %d and %d: %w", before+1, i+1, ErrRowsOfName), Row: i, Other: before})
		}
	}
	return nil
}
