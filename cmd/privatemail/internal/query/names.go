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
	"github.com/seed-64e14a55/privatemail/retrieval/client"
)

// changing is what -changed says.
func (f *flags) changing() client.Changed {
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
