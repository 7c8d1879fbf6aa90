package query

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
)

// nameRecords finds out which record each row is: by its content, or by its line in the file of
// -names.
func (s *Session) nameRecords() (err error) {
	if s.flags.names != "" && s.names == nil {
		if s.names, err = recordNames(s.flags.names, s.X.Rows); err != nil {
			return err
		}
	}
	s.equal = 0
	s.records = make([]client.RecordID, s.X.Rows)
	seen := make(map[client.RecordID]bool)
	for i := range s.records {
		row := s.X.Data[i*s.X.Stride:][:s.X.Cols]
		if s.names == nil {
			s.records[i], err = client.ByContent(row)
		} else {
			s.records[i], err = client.ByName(s.names[i], row)
		}
		if err != nil {
			return fmt.Errorf("%s: row %d: %w", s.in.Features, i+1, text.Bare(err))
		}
		if seen[s.records[i]] {
			s.equal++
		}
		seen[s.records[i]] = true
	}
	if s.names == nil || s.flags.changed != "" {
		return nil
	}
	return s.oneRowEach()
}

// oneRowEach refuses names with several rows.
func (s *Session) oneRowEach() error {
	first := make(map[string]int)
	for i, name := range s.names {
		before, again := first[name]
		switch {
		case !again:
			first[name] = i
		case s.records[i] != s.records[before]:
			return fmt.Errorf("%s: lines %d and %d have the same name, and their rows differ: -changed spend pays for each row of a name, -changed resend sends for all of them what is drawn for the first", s.flags.names, before+1, i+1)
		}
	}
	return nil
}

// changing is what -changed says.
func (f *Flags) changing() client.Changed {
	switch f.changed {
	case changedResend:
		return client.ResendChanged
	case changedSpend:
		return client.SpendChanged
	}
	return client.RefuseChanged
}

// recordNames returns the lines of a file, which are the names of n records.
func recordNames(path string, n int) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, files.Missing(path, err)
	}
	defer f.Close()
	names, err := readNames(f, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return names, nil
}

// readNames reads n names, one a line. No message holds a name.
func readNames(r io.Reader, n int) ([]string, error) {
	const longest = 4096
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	var names []string
	for lines.Scan() {
		name := strings.TrimSuffix(lines.Text(), "\r")
		if len(names) == 0 { // some editors write a mark, which is no part of the name
			name = strings.TrimPrefix(name, "\ufeff")
		}
		line := len(names) + 1
		switch {
		case len(names) == n:
			return nil, fmt.Errorf("more than %d names, and there are %d rows; every row needs one", n, n)
		case name == "":
			return nil, fmt.Errorf("line %d is empty; every row needs a name", line)
		case !utf8.ValidString(name):
			return nil, fmt.Errorf("line %d is not UTF-8", line)
		}
		names = append(names, name)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d has more than %d letters", len(names)+1, longest)
	} else if err != nil {
		return nil, err
	}
	if len(names) != n {
		return nil, fmt.Errorf("%d names, and there are %d rows; every row needs one", len(names), n)
	}
	return names, nil
}
