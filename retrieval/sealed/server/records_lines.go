package server

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"os"
)

// Lines returns the lines of a text file as records, for NewRecords: line i is the record of
// row i of the gallery. The newline is not part of a record, nor is a carriage return before it;
// all other bytes are. The last line may do without a newline. Each use reads the file from its
// beginning and holds one line of it; a line is gone when the next one is read. The error is that
// of the system, or ErrGallery for a line that is too long, which it numbers from 1.
func Lines(path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := eachLine(path, func(line []byte) bool { return yield(line, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// eachLine calls use for each line until that returns false.
func eachLine(path string, use func(line []byte) bool) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sealed server: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	number := 0
	for lines.Scan() {
		if number++; len(lines.Bytes()) > maxContent {
			return tooLong("line", number)
		}
		if !use(lines.Bytes()) {
			return nil
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return tooLong("line", number+1)
	}
	if lines.Err() != nil {
		return fmt.Errorf("sealed server: %w", lines.Err())
	}
	return nil
}

// tooLong reports a record, or the line that it is on.
func tooLong(what string, number int) error {
	return fmt.Errorf("sealed server: %w: %s %d has more than %d bytes", errRecords, what, number, maxContent)
}
