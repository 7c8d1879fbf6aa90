package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// recordNames returns the names of n records: the lines of a file, or, without one, the
// numbers of the rows behind a prefix.
func recordNames(path, prefix string, n int) ([]string, error) {
	if path == "" {
		names := make([]string, n)
		for i := range names {
			names[i] = prefix + strconv.Itoa(i)
		}
		return names, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, missing(path, err)
	}
	defer f.Close()
	names, err := readNames(f, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return names, nil
}

// readNames reads n names, one a line. Each is another: rows of one name would be one
// record, and get one set. No message holds a name.
func readNames(r io.Reader, n int) ([]string, error) {
	const longest = 4096
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	at := make(map[string]int)
	var names []string
	for lines.Scan() {
		name := strings.TrimSuffix(lines.Text(), "\r")
		line := len(names) + 1
		before, again := at[name]
		switch {
		case len(names) == n:
			return nil, fmt.Errorf("more than %d names, and there are %d rows; every row needs one", n, n)
		case name == "":
			return nil, fmt.Errorf("line %d is empty; every row needs a name", line)
		case !utf8.ValidString(name):
			return nil, fmt.Errorf("line %d is not UTF-8", line)
		case again:
			return nil, fmt.Errorf("lines %d and %d have the same name; two rows of one name would be one record", before, line)
		}
		at[name] = line
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
